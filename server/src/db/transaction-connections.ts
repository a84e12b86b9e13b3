import type pg from 'pg'
import { TurnQueue } from '../lib/turn-queue.ts'
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

interface Waiter {
  readonly isOutcome: boolean
  readonly start: () => void
}

/**
 * Shares the connections of a pool between outcomes and everything else. Callers wait in the queues of this class. The
 * pool's own queue is unused.
 */
export class TransactionConnections {
  readonly #pool: pg.Pool
  readonly #connectionsMax: number
  readonly #outcomes = new TurnQueue<Waiter>()
  readonly #others = new TurnQueue<Waiter>()
  #inUse = 0
  #inUseByOthers = 0

  /** The pool must allow `OUTCOME_CONNECTIONS` connections more than `connectionsMax`. */
  constructor(pool: pg.Pool, connectionsMax: number) {
    this.#pool = pool
    this.#connectionsMax = connectionsMax
  }

  /**
   * Takes a connection. Throws `DatabaseUnavailable` if too many callers wait, if the wait takes too long, or if no
   * connection can be opened.
   */
  async take({ isOutcome = false, group = '' }: Precedence): Promise<TakenConnection> {
    if (!this.#mayStart(isOutcome)) await this.#wait(isOutcome, group)
    else this.#count(isOutcome, 1)
    try {
      const client = await this.#pool.connect()
      return {
        client,
        release: (isBroken) => {
          client.release(isBroken)
          this.#giveBack(isOutcome)
        },
      }
    } catch (error) {
      this.#giveBack(isOutcome)
      throw translateError(error)
    }
  }

  /**
   * Everything that is not an outcome waits while an outcome waits, and never uses the last `OUTCOME_CONNECTIONS`
   * connections.
   */
  #mayStart(isOutcome: boolean): boolean {
    const isFree = this.#inUse < this.#connectionsMax + OUTCOME_CONNECTIONS
    return isFree && (isOutcome || (this.#outcomes.size === 0 && this.#inUseByOthers < this.#connectionsMax))
  }

  #count(isOutcome: boolean, change: 1 | -1): void {
    this.#inUse += change
    if (!isOutcome) this.#inUseByOthers += change
  }

  async #wait(isOutcome: boolean, group: string): Promise<void> {
    const queue = isOutcome ? this.#outcomes : this.#others
    if (queue.size >= (isOutcome ? OUTCOMES_WAITING_MAX : WAITING_MAX))
      throw new DatabaseUnavailable('too many transactions are waiting for a connection')
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        isOutcome,
        start: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const endWait = (): void => {
        queue.remove(group, waiter)
        reject(new DatabaseUnavailable('no connection became free in time'))
      }
      const timer = setTimeout(endWait, isOutcome ? OUTCOME_WAIT_MS_MAX : WAIT_MS_MAX)
      queue.push(group, waiter)
    })
  }

  /** Passes the connection on. It is counted for the next user at once, so that nobody else can take it meanwhile. */
  #giveBack(isOutcome: boolean): void {
    this.#count(isOutcome, -1)
    for (const queue of [this.#outcomes, this.#others]) {
      while (queue.size > 0 && this.#mayStart(queue === this.#outcomes)) {
        const next = queue.take()
        if (next === undefined) break
        this.#count(next.isOutcome, 1)
        next.start()
      }
    }
  }
}
