import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Sealer } from '../lib/sealing.ts'
import type { Database } from './database.ts'
import { findServerKey, insertServerKey } from './server-keys-store.ts'

/** The name of the key with which the successors of refresh tokens are derived (D38a). */
export const SUCCESSOR_KEY = 'refresh_token_successors'
/** The name of the key that signs the checkpoints of the transparency log (D80). */
export const LOG_KEY = 'transparency_log'
const KEY_BYTES = 32

interface Deps {
  readonly db: Database
  readonly sealer: Sealer
  readonly clock: Clock
}

/** The context with which a key is encrypted (see `Sealer`). */
export function serverKeySealContext(name: string): string {
  return `server key ${name}`
}

/**
 * A random key that all processes of the service share. The first process that needs it generates it. It is stored
 * encrypted in the database, and never changes, not even if the key that encrypts it is replaced.
 */
export class ServerKey {
  readonly #deps: Deps
  readonly #name: string
  #reading: Promise<Buffer> | null = null

  constructor(deps: Deps, name: string) {
    this.#deps = deps
    this.#name = name
  }

  /** Returns the key. A process reads it from the database once. */
  read(): Promise<Buffer> {
    this.#reading ??= this.#find().catch((error: unknown) => {
      this.#reading = null
      throw error
    })
    return this.#reading
  }

  async #find(): Promise<Buffer> {
    const sealed = (await this.#deps.db.read(findServerKey(this.#name))) ?? (await this.#create())
    return Buffer.from(this.#deps.sealer.open(sealed, serverKeySealContext(this.#name)), 'base64')
  }

  async #create(): Promise<Buffer> {
    const { db, sealer, clock } = this.#deps
    const sealed = sealer.seal(randomBytes(KEY_BYTES).toString('base64'), serverKeySealContext(this.#name))
    await db.write(insertServerKey(this.#name, sealed, clock.now()))
    // Another process may have been faster, so the stored key counts.
    const stored = await db.read(findServerKey(this.#name))
    if (stored === null) throw new Error(`the server key ${this.#name} was not stored`)
    return stored
  }
}
