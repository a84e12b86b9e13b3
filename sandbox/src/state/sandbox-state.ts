import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mode } from '../addresses.ts'
import type { StoredPasskey } from '../software-passkey.ts'
import { writeFileAtomically } from '../lib/write-file-atomically.ts'

/**
 * The number of the layout of the whole data directory: this file, the database's first migration, the enclave's data
 * and the contracts on the chains. Increase it with every change after which an older directory cannot be used. Such a
 * directory is rejected and never converted, because it holds no real money.
 */
const LAYOUT = 2

/** Data that the sandbox keeps between two starts, including secrets. */
export interface SandboxState {
  readonly version: typeof LAYOUT
  /** The server's ENCRYPTION_KEY, in base64. */
  readonly encryptionKey: string
  readonly enclave: { readonly appId: string; readonly appSecret: string; readonly controlToken: string }
  readonly clockOffsetMs: number
  /** The passkey with which the owner of each workspace signs in, by slug. */
  readonly owners: Readonly<Record<string, StoredPasskey>>
  /** The passkey with which the owner of each workspace owns wallets, by slug. */
  readonly walletOwners: Readonly<Record<string, StoredPasskey>>
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

/**
 * Opens the state in a data directory, or creates a new one.
 *
 * @throws Error with one sentence if the file cannot be read, or if the directory has another layout.
 */
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
    if (state.version === LAYOUT) return state
  } catch (cause) {
    throw new Error(`${file} cannot be read: restore it, or start again with npm run reset`, { cause })
  }
  throw new Error(
    `${dirname(file)} has the data of another version of the sandbox: delete it with npm run reset, and start again`,
  )
}

function createState(): SandboxState {
  const secret = (): string => randomBytes(SECRET_BYTES).toString('base64url')
  return {
    version: LAYOUT,
    encryptionKey: randomBytes(SECRET_BYTES).toString('base64'),
    enclave: { appId: 'bursar-sandbox', appSecret: secret(), controlToken: secret() },
    clockOffsetMs: 0,
    owners: {},
    walletOwners: {},
    grants: {},
    demo: {},
  }
}
