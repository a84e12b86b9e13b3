import pg from 'pg'
import { readProcessMs } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'
import { openPools, type Pools } from '../lib/pools.ts'
import { Batcher } from './batcher.ts'
import { ConnectionWatch } from './connection-watch.ts'
import { DatabaseServers, openConnection, type ConnectionSource, type SessionSettings } from './database-servers.ts'
import { CommitUnknown, DatabaseReadOnly, DatabaseUnavailable, isRetryable, translateError } from './errors.ts'
import { openPipelinedConnection, type PipelinedConnection } from './pipelined-connection.ts'
import { openPool, type ConnectionPool } from './open-pool.ts'
import type { GatheredQuery, GatheringLane } from './gathered-query.ts'
import { computed } from './column.ts'
import { one, readResult, type Query, type Results } from './query.ts'
import { openReaders, type Readers } from './readers.ts'
import { Transaction } from './transaction.ts'
import { TransactionConnections, type Precedence } from './transaction-connections.ts'

export interface DatabaseConfig {
  readonly url: string
  /**
   * The most connections for transactions. There are also two for outcomes only, `SHARED_CONNECTIONS` shared connections,
   * `GATHERING_CONNECTIONS`, and those of `openReaders`.
   */
  readonly connectionsMax: number
  /** PostgreSQL's `plan_cache_mode`, if not the one of `PLANNER_SETTINGS`. */
  readonly planCacheMode?: string
}

const SHARED_CONNECTIONS = 2
/** Connections for gathered queries. While one waits for a locked row, the other one runs the next statement. */
const GATHERING_CONNECTIONS = 2
/** At most this many durable gathered statements run at once: while one waits for the disk, the next one can begin. */
const DURABLE_STATEMENTS_MAX = 2
/**
 * How long a gathered statement waits for a locked row. After this time, the items of the statement run one by one, so
 * that only the requests for the locked row wait any longer.
 */
const GATHERED_LOCK_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 3_000
/**
 * The database server cancels a statement that takes longer. If there is no response within `ANSWER_TIMEOUT_MS`, we
 * close the connection.
 */
const STATEMENT_TIMEOUT_MS = 8_000
const ANSWER_TIMEOUT_MS = 10_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
const TRANSACTION_ATTEMPTS_MAX = 4
/**
 * Every query uses an index, which its comment names (decision 0038). PostgreSQL may plan a prepared statement while a
 * table is small, or contains few rows of a kind, and keep the plan after the table has grown. So a plan should contain
 * only steps that cost little even in a large table: a scan of an index in its order, and a look-up for each row of a
 * join. A hash join or merge join may read a table from end to end, and a bitmap scan reads all matching rows even if
 * only the first ones are needed. Because sorting is avoided too, a statement can choose its index by its `order by`,
 * even if another index looks as good in the statistics. These options do not forbid the steps that they turn off: the
 * planner uses such a step if nothing else is possible. A connection plans each prepared statement once, without the
 * values of its parameters. Otherwise, PostgreSQL would plan at least its first five executions one by one. `jit` is off
 * because compiling such short plans never pays off.
 */
export const PLANNER_SETTINGS: SessionSettings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
}

/** Dates stay text. The driver would convert them to midnight in local time. */
const TYPES = new pg.TypeOverrides()
TYPES.setTypeParser(pg.types.builtins.DATE, String)

/**
 * A write that a power failure may undo, such as a rate counter. It does not wait for the disk, and uses the connections
 * of `read`, so that many of these writes need few connections.
 */
export interface LosableWrite {
  readonly mayBeLost: true
  /** Whether the write may take a long time. Then it uses the connections of `readSlow`. */
  readonly isSlow?: boolean
}

const PING: Query<void> = {
  name: 'ping',
  text: `select current_setting('transaction_read_only')::bool as is_read_only`,
  values: [],
  read: one({ is_read_only: computed.bool }, (row) => {
    if (row.is_read_only) throw new DatabaseReadOnly('the database server accepts no writes')
  }),
}

/** Opens the pools of a process that uses this database. */
export function poolsFor({ connectionsMax }: Pick<DatabaseConfig, 'connectionsMax'>): Pools {
  return openPools({ transactions: { placesMax: connectionsMax } })
}

/**
 * There are five ways to use the database:
 *
 * - `read`: one or several short reads. All callers share a few connections, on which statements follow each other
 *   without waiting for results.
 * - `readSlow`: reads whose time depends on how much a workspace has stored. They have connections of their own, so that
 *   nothing else waits for them.
 * - `write`: one statement that changes something.
 * - `transaction`: several statements that see each other's effects. Each durable write and each transaction has one of
 *   the pool's connections for itself.
 * - `gather`: a statement that many requests run at the same time. Those of one turn of the event loop share it.
 */
export class Database {
  readonly #pool: ConnectionPool
  readonly #connections: TransactionConnections
  readonly #sharedConnections: readonly PipelinedConnection[]
  readonly #gatheringConnections: readonly PipelinedConnection[]
  readonly #gatherer: Batcher<GatheringLane>
  readonly #durableGatherer: Batcher<GatheringLane>
  readonly #readers: Readers
  readonly #watch: ConnectionWatch
  readonly #measurements: Measurements

  /** `pools` are those of the process, opened with `poolsFor`. */
  constructor(config: DatabaseConfig, logger: Logger, pools = poolsFor(config), measurements = NOT_MEASURED) {
    this.#measurements = measurements
    const unwatched = {
      servers: new DatabaseServers(config.url),
      client: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: ANSWER_TIMEOUT_MS,
        keepAlive: true,
        application_name: 'bursar',
        types: TYPES,
      },
    }
    this.#watch = new ConnectionWatch((sessions) => findWorking(unwatched, sessions), logger)
    const source = {
      ...unwatched,
      watch: this.#watch,
      settings: {
        ...PLANNER_SETTINGS,
        ...(config.planCacheMode === undefined ? {} : { plan_cache_mode: config.planCacheMode }),
        statement_timeout: String(STATEMENT_TIMEOUT_MS),
        idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
      },
    }
    const { longReads, transactions } = pools
    this.#pool = openPool(source, transactions.placesMax, logger)
    this.#connections = new TransactionConnections(this.#pool, transactions)
    // All connections outside this pool are for reads and for unimportant writes, such as rate counters and logs. A
    // power failure may lose these writes without harm, so they do not wait for the disk.
    const relaxed = { ...source, settings: { ...source.settings, synchronous_commit: 'off' } }
    this.#sharedConnections = Array.from({ length: SHARED_CONNECTIONS }, () => openPipelinedConnection(relaxed))
    const gathering = { ...relaxed, settings: { ...relaxed.settings, lock_timeout: String(GATHERED_LOCK_TIMEOUT_MS) } }
    this.#gatheringConnections = Array.from({ length: GATHERING_CONNECTIONS }, () =>
      openPipelinedConnection(gathering, { sending: 'at once' }),
    )
    this.#gatherer = new Batcher(this.#gatheringConnections)
    const durable: GatheringLane = { run: (query) => this.#write(query) }
    this.#durableGatherer = new Batcher(Array.from({ length: DURABLE_STATEMENTS_MAX }, () => durable))
    this.#readers = openReaders(relaxed, longReads, logger)
  }

  /** Runs a read on a shared connection. Several reads cost one round trip. */
  read<Result>(query: Query<Result>): Promise<Result>
  read<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>>
  async read(wanted: Query<unknown> | readonly Query<unknown>[]): Promise<unknown> {
    return await this.#measure(nameOf(wanted), () => {
      const connection = this.#chooseShared()
      return 'text' in wanted ? connection.run(wanted) : Promise.all(wanted.map((query) => connection.run(query)))
    })
  }

  /**
   * Runs one or several reads that may take a long time, in one round trip. They use one of a few separate connections,
   * so that no transaction waits for them. `group` is the workspace that reads; workspaces share these connections.
   * Throws `DatabaseUnavailable` if the read takes too long, or if too many such reads are waiting.
   */
  readSlow<Result>(query: Query<Result>, group?: string | null): Promise<Result>
  readSlow<const Queries extends readonly Query<unknown>[]>(
    queries: Queries,
    group?: string | null,
  ): Promise<Results<Queries>>
  async readSlow(wanted: Query<unknown> | readonly Query<unknown>[], group: string | null = null): Promise<unknown> {
    return await this.#measure(nameOf(wanted), async () => {
      if (!('text' in wanted)) return await this.#readers.run(wanted, group)
      const [result] = await this.#readers.run([wanted], group)
      return result
    })
  }

  /**
   * Runs an item of a gathered query: one statement for all items that arrive in the same turn of the event loop. Use
   * it for a statement that every request runs. Throws `DatabaseUnavailable` if the database does not respond, if the
   * row of the item stays locked, or if too many items are waiting; and what `write` throws if the query is durable.
   */
  gather<Item, Result>(gathered: GatheredQuery<Item, Result>, item: Item): Promise<Result> {
    const gatherer = gathered.isDurable ? this.#durableGatherer : this.#gatherer
    return this.#measure('', () => gatherer.run(gathered, item))
  }

  /** Throws `DatabaseUnavailable` if the database does not respond, and `DatabaseReadOnly` if it accepts no writes. */
  async ping(): Promise<void> {
    await this.read(PING)
  }

  /**
   * Runs one statement that changes something. When the promise resolves, the change is on disk, unless it
   * `mayBeLost`. Durable writes take turns with transactions, so that a job does not wait for all waiting transactions.
   */
  async write<Result>(query: Query<Result>, options: Precedence | LosableWrite = {}): Promise<Result> {
    if ('mayBeLost' in options) return await (options.isSlow === true ? this.readSlow(query) : this.read(query))
    return await this.#measure(query.name, () => this.#write(query, options))
  }

  async #write<Result>(query: Query<Result>, options: Precedence = {}): Promise<Result> {
    const connection = await this.#connections.take({ group: 'statements', ...options })
    let usable = true
    const result = await connection.client
      .query({ name: query.name, text: query.text, values: [...query.values] })
      .catch((error: unknown) => {
        const translated = translateError(error)
        // The connection stays usable after a failed statement, unless the error says that the server is unavailable.
        usable = !(translated instanceof DatabaseUnavailable)
        if (error instanceof pg.DatabaseError) throw translated
        throw new CommitUnknown('the connection was lost during a write', { cause: error })
      })
      .finally(() => connection.release(!usable))
    return readResult(query, result)
  }

  /**
   * Runs `verb` in a transaction, and commits if `verb` has not done so. If `verb` throws, the transaction is rolled
   * back. If the transaction conflicts with another one (serialization failure, deadlock), `verb` runs again. So it
   * must have no effects other than SQL. `precedence` decides who gets a free connection first.
   */
  async transaction<Result>(
    verb: (transaction: Transaction) => Promise<Result>,
    precedence: Precedence = {},
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(verb, precedence)
      } catch (error) {
        if (attempt >= TRANSACTION_ATTEMPTS_MAX || !isRetryable(error)) throw error
      }
    }
  }

  /** Returns the shared connection with the fewest statements, so a second one is opened only while the first is busy. */
  #chooseShared(): PipelinedConnection {
    return this.#sharedConnections.reduce((best, other) => (other.running < best.running ? other : best))
  }

  async #attempt<Result>(verb: (transaction: Transaction) => Promise<Result>, precedence: Precedence): Promise<Result> {
    const start = readProcessMs()
    const connection = await this.#connections.take(precedence)
    const transaction = new Transaction(connection.client)
    let usable = true
    let outcome: 'ok' | 'failed' = 'failed'
    try {
      const result = await verb(transaction)
      if (transaction.open) await transaction.commit([])
      outcome = 'ok'
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
      // A connection in an unknown state is closed. If only `verb` itself failed, the connection stays usable.
      connection.release(!usable)
      this.#measurements.databaseUsed('transaction', transaction.statement, outcome, readProcessMs() - start)
    }
  }

  /** Runs work, and reports it if it belongs to a trace. A call outside of traces costs nothing more. */
  #measure<Result>(statement: string, work: () => Promise<Result>): Promise<Result> {
    return this.#measurements.isTraced() ? this.#report(statement, work) : work()
  }

  async #report<Result>(statement: string, work: () => Promise<Result>): Promise<Result> {
    const start = readProcessMs()
    let outcome: 'ok' | 'failed' = 'failed'
    try {
      const result = await work()
      outcome = 'ok'
      return result
    } finally {
      this.#measurements.databaseUsed('statement', statement, outcome, readProcessMs() - start)
    }
  }

  async close(): Promise<void> {
    this.#gatherer.close()
    this.#durableGatherer.close()
    await Promise.all([
      this.#watch.stop(),
      this.#pool.end(),
      this.#readers.close(),
      ...[...this.#gatheringConnections, ...this.#sharedConnections].map((connection) => connection.close()),
    ])
  }
}

function nameOf(wanted: Query<unknown> | readonly Query<unknown>[]): string {
  return ('text' in wanted ? wanted : wanted[0])?.name ?? ''
}

/** Returns the sessions that work on a statement, or null if the server does not even list the session that asks. */
async function findWorking(source: ConnectionSource, sessions: readonly number[]): Promise<ReadonlySet<number> | null> {
  const connection = await openConnection(source)
  try {
    const { rows } = await connection.query<{ pid: number }>(
      `select pid from pg_stat_activity
        where (pid = any($1::int[]) or pid = pg_backend_pid()) and (state is null or state not like 'idle%')`,
      [sessions],
    )
    return rows.length === 0 ? null : new Set(rows.map(({ pid }) => pid))
  } finally {
    await connection.end()
  }
}
