import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { readProcessMs } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { startLoop, type Loop } from '../lib/loop.ts'

/** If a statement has no response for this long, the database server is asked whether it still works on the statement. */
const QUIET_MS = 2_000
const CHECK_INTERVAL_MS = 400
/** A response that was on its way while the server was asked arrives within this time. */
const ARRIVAL_MS = 400

/** Asks the server over a new connection. Returns null if the server does not tell on which statements it works. */
export type FindWorking = (sessions: readonly number[]) => Promise<ReadonlySet<number> | null>

interface Watched {
  /** The process id of the session in PostgreSQL. */
  readonly session: number
  /** The number of statements without a response. */
  waiting: number
  /** The time of the last response, or of the first statement since then. */
  quietSince: number
}

/**
 * Closes connections that lead nowhere any more, for example because a proxy or a server between was lost without a
 * word. A statement may take several seconds, for example because it waits for a locked row, so the time alone says
 * nothing. If a statement has no response for some time, the server is asked over a new connection. If the server does
 * not work on the statement, and no response arrives, the connection is closed. So are all others that were quiet for
 * as long, because what broke one connection usually broke others: otherwise, each would fail a statement of its own.
 */
export class ConnectionWatch {
  readonly #findWorking: FindWorking
  readonly #logger: Logger
  readonly #connections = new Map<pg.Client, Watched>()
  #loop: Loop | null = null

  constructor(findWorking: FindWorking, logger: Logger) {
    this.#findWorking = findWorking
    this.#logger = logger
  }

  /** Watches a connection until it ends. */
  add(connection: pg.Client, session: number): void {
    const watched = { session, waiting: 0, quietSince: readProcessMs() }
    this.#connections.set(connection, watched)
    connection.once('end', () => this.#connections.delete(connection))
    reportStatements(connection, watched)
    this.#loop ??= startLoop(
      { name: 'watch-connections', intervalMs: CHECK_INTERVAL_MS, logger: this.#logger },
      async () => await this.#check(),
    )
  }

  async stop(): Promise<void> {
    await this.#loop?.stop()
  }

  async #check(): Promise<void> {
    const quiet = [...this.#connections].filter(([, { quietSince }]) => readProcessMs() - quietSince > QUIET_MS)
    const asked = quiet.flatMap(([, { waiting, session }]) => (waiting > 0 ? [session] : []))
    if (asked.length === 0) return
    const since = new Map(quiet.map(([connection, { quietSince }]) => [connection, quietSince]))
    const working = await this.#findWorking(asked)
    // If this process itself was held up, it reads here the responses that had arrived long ago.
    await delay(ARRIVAL_MS)
    if (working === null) return
    const lost = quiet.filter(
      ([connection, { session, quietSince }]) => quietSince === since.get(connection) && !working.has(session),
    )
    if (!lost.some(([, { waiting }]) => waiting > 0)) return
    this.#logger.warn({ connections: lost.length }, 'database connections without a response are closed')
    const error = new Error('the connection got no response, and the database server does not work on its statement')
    for (const [connection] of lost) connection.connection.stream.destroy(error)
  }
}

/** Notes each statement that the connection sends, and each response. */
function reportStatements(connection: pg.Client, watched: Watched): void {
  const query = connection.query.bind(connection) as (...given: readonly unknown[]) => Promise<unknown>
  const answered = (): void => {
    watched.waiting -= 1
    watched.quietSince = readProcessMs()
  }
  const report = (...given: readonly unknown[]): Promise<unknown> => {
    if (watched.waiting === 0) watched.quietSince = readProcessMs()
    watched.waiting += 1
    const result = query(...given)
    result.then(answered, answered)
    return result
  }
  connection.query = report as typeof connection.query
}
