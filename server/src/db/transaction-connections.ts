import type pg from 'pg'
import { anyFree, FairPlaces } from '../lib/fair-places.ts'
import { DatabaseUnavailable, translateError } from './errors.ts'

/** Connections that only outcomes may use, in addition to those that transactions and outcomes share. */
export const OUTCOME_CONNECTIONS = 2
/** How many transactions and statements may wait for a connection. Outcomes have a limit of their own. */
const WAITING_MAX = 1_000
/**
 * How many outcomes may wait. The limit is far above the number of requests that one process works on, so that no
 * outcome is rejected: if an outcome is not recorded, it has to be found out again later.
 */
const OUTCOMES_WAITING_MAX = 10_000
/**
 * A transaction waits at most this long for a connection, and then fails. Nothing has happened yet, so its caller can
 * simply try again.
 */
const WAIT_MS_MAX = 3_000
/** How long an outcome waits for a connection: as long as a statement that uses a connection may take. */
const OUTCOME_WAIT_MS_MAX = 8_000

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
  readonly #pool: pg.Pool
  readonly #places: FairPlaces

  /** The pool must allow `OUTCOME_CONNECTIONS` connections more than `connectionsMax`. */
  constructor(pool: pg.Pool, connectionsMax: number) {
    this.#pool = pool
    this.#places = new FairPlaces({
      placesMax: connectionsMax,
      waitingMax: WAITING_MAX,
      waitMsMax: WAIT_MS_MAX,
      // A workspace that is alone may use all connections, because a transaction holds one for a short time only.
      share: anyFree,
      urgent: {
        placesMax: OUTCOME_CONNECTIONS,
        waitingMax: OUTCOMES_WAITING_MAX,
        waitMsMax: OUTCOME_WAIT_MS_MAX,
      },
    })
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
