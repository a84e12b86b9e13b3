import type pg from 'pg'
import type { FairPlaces } from '../lib/fair-places.ts'
import { DatabaseUnavailable, translateError } from './errors.ts'
import type { ConnectionPool } from './open-pool.ts'

export interface Precedence {
  /**
   * Whether the caller records what has already happened elsewhere, such as the enclave's response to a payment.
   * Outcomes go first, and some connections are reserved for them, because work that has begun must not wait for work
   * that has not.
   */
  readonly isOutcome?: boolean
  /** Transactions of different groups, such as workspaces, take turns while they wait for a connection. */
  readonly group?: string
}

/** A connection in use. It must be released exactly once. */
export interface TakenConnection {
  readonly client: pg.PoolClient
  /** `isBroken` closes the connection instead of keeping it for the next user. */
  release(isBroken: boolean): void
}

/** Shares the connections of a pool between outcomes and everything else. The pool's own queue is unused. */
export class TransactionConnections {
  readonly #pool: ConnectionPool
  readonly #places: FairPlaces

  /** The pool must allow as many connections as there are places. */
  constructor(pool: ConnectionPool, places: FairPlaces) {
    this.#pool = pool
    this.#places = places
  }

  /**
   * Takes a connection. Throws `DatabaseUnavailable` if too many callers wait, if the wait takes too long, or if no
   * connection can be opened.
   */
  async take({ isOutcome = false, group }: Precedence): Promise<TakenConnection> {
    const place = await this.#places.take(group ?? null, { isUrgent: isOutcome })
    if (place === null) throw new DatabaseUnavailable('too many transactions are waiting for a connection')
    try {
      const client = await this.#pool.connect()
      return {
        client,
        release: (isBroken) => {
          client.release(isBroken)
          place.leave()
        },
      }
    } catch (error) {
      place.leave()
      throw translateError(error)
    }
  }
}
