import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from '../addresses.ts'
import type { StoredPasskey } from '../software-passkey.ts'
import { writeFileAtomically } from '../lib/write-file-atomically.ts'

/** Data that the sandbox keeps between two starts, including secrets. */
export interface SandboxState {
  readonly version: 1
  /** The server's ENCRYPTION_KEY, in base64. */
  readonly encryptionKey: string
  readonly enclave: { readonly appId: string; readonly appSecret: string; readonly controlToken: string }
  readonly clockOffsetMs: number
  /** The passkey with which the owner of each workspace signs in, by slug. */
  readonly owners: Readonly<Record<string, StoredPasskey>>
  /** The passkey with which the owner of each workspace owns wallets, by slug. Missing until it is created. */
  readonly walletOwners?: Readonly<Record<string, StoredPasskey>>
  /**
   * The slug of the workspace of each grant that the sandbox has made, by the grant's id. It is stored here because the
   * service cannot search for a grant in all workspaces.
   */
  readonly grants: Readonly<Record<string, string>>
  /** The secret of the invitation to the demo workspace. */
  readonly invitation?: string
  /** The modes of the demo workspace that have been created so far. */
  readonly demo: Readonly<Partial<Record<Mode, DemoMode>>>
}

export interface DemoMode {
  readonly key: string
  readonly wallet: string
}

export interface StateFile {
  readonly current: SandboxState
  /** Replaces members of the state. The change is written to disk before `current` shows it. */
  update(change: Partial<SandboxState>): void
}

export const STATE_FILE_NAME = 'sandbox-state.json'
const SECRET_BYTES = 32

/** Opens the state in a data directory, or creates a new one. Throws if the file exists but cannot be read. */
export function openState(dataDir: string): StateFile {
  const file = join(dataDir, STATE_FILE_NAME)
  let current = existsSync(file) ? readState(file) : createState()
  const write = (next: SandboxState): void => {
    writeFileAtomically(file, `${JSON.stringify(next, null, 2)}\n`)
    current = next
  }
  if (!existsSync(file)) write(current)
  return {
    get current() {
      return current
    },
    update: (change) => write({ ...current, ...change }),
  }
}

function readState(file: string): SandboxState {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as SandboxState
    if (state.version === 1) return state
  } catch (cause) {
    throw new Error(`${file} cannot be read: restore it, or start again with npm run reset`, { cause })
  }
  throw new Error(`${file} was written by another version of the sandbox: start again with npm run reset`)
}

function createState(): SandboxState {
  const secret = (): string => randomBytes(SECRET_BYTES).toString('base64url')
  return {
    version: 1,
    encryptionKey: randomBytes(SECRET_BYTES).toString('base64'),
    enclave: { appId: 'bursar-sandbox', appSecret: secret(), controlToken: secret() },
    clockOffsetMs: 0,
    owners: {},
    grants: {},
    demo: {},
  }
}
