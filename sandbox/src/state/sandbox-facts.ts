import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from '../addresses.ts'
import { writeFileAtomically } from '../lib/write-file-atomically.ts'

/** The content of `sandbox.json` and of `GET /` of the control API. */
export interface SandboxFacts {
  readonly base_url: string
  readonly auth_url: string
  readonly control_url: string
  readonly enclave_url: string
  /** A shop that sells over x402 and MPP. `GET` returns its price list. */
  readonly seller_url: string
  readonly chains: Readonly<Record<Mode, { readonly id: number; readonly rpc_url: string; readonly usdc: string }>>
  readonly workspace: {
    readonly slug: string
    readonly keys: Readonly<Record<Mode, string>>
    readonly wallets: Readonly<Record<Mode, string>>
    readonly agent_id: string
    /** A link to an invitation. Everybody who opens it can register a passkey and become an owner of the workspace. */
    readonly invite_url: string
  }
}

export const FACTS_FILE_NAME = 'sandbox.json'

export function writeFacts(dataDir: string, facts: SandboxFacts): void {
  writeFileAtomically(join(dataDir, FACTS_FILE_NAME), `${JSON.stringify(facts, null, 2)}\n`)
}

/** Deletes the file `sandbox.json`. Scripts wait for this file, so it must exist only while everything is running. */
export function removeFacts(dataDir: string): void {
  rmSync(join(dataDir, FACTS_FILE_NAME), { force: true })
}
