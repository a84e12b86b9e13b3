import pg from 'pg'
import type { Logger } from '../lib/logger.ts'
import { CommitUnknown, DatabaseUnavailable, isRetryable, translateError } from './errors.ts'
import { openLane } from './lane.ts'
import type { Query } from './query.ts'
import { readResult } from './query.ts'
import { Transaction } from './transaction.ts'

export interface DatabaseConfig {
  readonly url: string
  /** Connections for transactions. Besides them there are `LANES` shared ones. */
  readonly connectionsMax: number
}

const LANES = 2
const CONNECT_TIMEOUT_MS = 3_000
/** A statement that takes longer is cancelled by the server; one that gets no answer at all ends its connection. */
const STATEMENT_TIMEOUT_MS = 8_000
const ANSWER_TIMEOUT_MS = 10_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
const TRANSACTION_ATTEMPTS_MAX = 4
/**
 * Every query stands on an index that it names. A prepared plan that was made while a table was small must not scan it
 * when it has grown, so scans are the planner's last resort; compiling such plans never pays.
 */
const PLANNER_OPTIONS = '-c enable_seqscan=off -c jit=off'

export class Database {
  readonly #pool: pg.Pool
  readonly #lanes: readonly ReturnType<typeof openLane>[]
  #nextLane = 0

  constructor(config: DatabaseConfig, logger: Logger) {
    const connection: pg.ClientConfig = {
      connectionString: config.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'bursar',
    }
    this.#pool = new pg.Pool({ ...connection, options: PLANNER_OPTIONS, pipeline: true, max: config.connectionsMax })
    this.#pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'))
    // A connection that is lost while a transaction has it fails that transaction; its event must not end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
    // The lanes carry reads and rate counters, nothing that must outlive a power cut: they do not wait for the disk.
    const options = `${PLANNER_OPTIONS} -c synchronous_commit=off`
    this.#lanes = Array.from({ length: LANES }, () => openLane({ ...connection, options }))
  }

  /** Runs a read, or a write that a power cut may undo (a rate counter), on a shared connection. */
  read<Result>(query: Query<Result>): Promise<Result> {
    const lane = this.#lanes[this.#nextLane]
    this.#nextLane = (this.#nextLane + 1) % this.#lanes.length
    if (lane === undefined) throw new Error('the database has no lanes')
    return lane.run(query)
  }

  /** Whether the database answers; throws `DatabaseUnavailable` when it does not. */
  async ping(): Promise<void> {
    await this.read({ name: 'ping', text: 'select 1', values: [], read: () => null })
  }

  /** Runs two such statements in one round trip. */
  async readBoth<First, Second>(first: Query<First>, second: Query<Second>): Promise<[First, Second]> {
    const lane = this.#lanes[this.#nextLane]
    this.#nextLane = (this.#nextLane + 1) % this.#lanes.length
    if (lane === undefined) throw new Error('the database has no lanes')
    return await Promise.all([lane.run(first), lane.run(second)])
  }

  /** Runs one statement durably: when it resolves, it is on disk. */
  async write<Result>(query: Query<Result>): Promise<Result> {
    return await this.#runAlone(
      query,
      (cause) => new CommitUnknown('the connection was lost during a write', { cause }),
    )
  }

  /** Runs a read that may take long, where no other one waits behind it. */
  async readLarge<Result>(query: Query<Result>): Promise<Result> {
    return await this.#runAlone(query, translateError)
  }

  async #runAlone<Result>(query: Query<Result>, lostWith: (cause: unknown) => unknown): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translateError(error)
    })
    let usable = true
    const result = await client
      .query({ name: query.name, text: query.text, values: [...query.values] })
      .catch((error: unknown) => {
        if (error instanceof pg.DatabaseError) throw translateError(error)
        usable = false
        throw lostWith(error)
      })
      .finally(() => client.release(!usable))
    return readResult(query, result)
  }

  /**
   * Runs `verb` in a transaction, and commits what it left open. A verb that throws is rolled back. One that lost
   * against another transaction (serialization, deadlock) is run again, so it must do nothing but SQL.
   */
  async transaction<Result>(verb: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(verb)
      } catch (error) {
        if (attempt >= TRANSACTION_ATTEMPTS_MAX || !isRetryable(error)) throw error
      }
    }
  }

  async #attempt<Result>(verb: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translateError(error)
    })
    const transaction = new Transaction(client)
    let usable = true
    try {
      const result = await verb(transaction)
      if (transaction.open) await transaction.commit([])
      return result
    } catch (error) {
      usable = !(error instanceof DatabaseUnavailable || error instanceof CommitUnknown)
      if (usable) {
        await transaction.rollback().catch(() => {
          usable = false
        })
      }
      throw error
    } finally {
      // A connection whose state is unknown is thrown away; a verb's own error leaves it whole.
      client.release(!usable)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), ...this.#lanes.map((lane) => lane.close())])
  }
}
