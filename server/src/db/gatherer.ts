import { DatabaseUnavailable } from './errors.ts'
import { GatherQueue } from './gather-queue.ts'
import type { GatheredQuery } from './gathered-query.ts'
import type { PipelinedConnection } from './pipelined-connection.ts'

/**
 * How many items may wait for a result. A process accepts this many connections, and each connection has one request at
 * a time.
 */
export const ITEMS_WAITING_MAX = 10_000

type Connection = Pick<PipelinedConnection, 'run' | 'close'>

/** A queue of items and results of any type. */
type AnyQueue = Pick<GatherQueue<unknown, unknown>, 'isReady' | 'rejectWaiting'> & {
  runNext(run: Connection['run']): Promise<DatabaseUnavailable | null>
}

/**
 * Runs gathered queries. Items that arrive in one turn of the event loop share a statement, and so do items that arrive
 * while all connections are busy. So statements get larger as the load grows.
 *
 * Each connection runs one statement at a time. A statement that waits for a locked row delays its own items only,
 * while the next statement uses another connection.
 */
export class Gatherer {
  readonly #connections: readonly Connection[]
  readonly #idle: Connection[]
  readonly #queues = new Map<object, AnyQueue>()
  /** The queues that have items ready, each once. They take turns. */
  readonly #turns: AnyQueue[] = []
  #isScheduled = false
  #isClosed = false
  #waiting = 0

  constructor(connections: readonly Connection[]) {
    this.#connections = connections
    this.#idle = [...connections]
  }

  /** Throws `DatabaseUnavailable` if the database does not respond, or if too many items are waiting. */
  async run<Item, Result>(gathered: GatheredQuery<Item, Result>, item: Item): Promise<Result> {
    if (this.#isClosed) throw new DatabaseUnavailable('the database connections are closed')
    if (this.#waiting >= ITEMS_WAITING_MAX) throw new DatabaseUnavailable('too many requests wait for the database')
    const queue = this.#queueOf(gathered)
    this.#waiting += 1
    const result = queue.add(item)
    this.#schedule(queue)
    try {
      return await result
    } finally {
      this.#waiting -= 1
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#rejectAll(new DatabaseUnavailable('the database connections are closed'))
    await Promise.all(this.#connections.map((connection) => connection.close()))
  }

  #queueOf<Item, Result>(gathered: GatheredQuery<Item, Result>): GatherQueue<Item, Result> {
    // The map's only writer is this function, so the queue of a query has the query's types.
    const known = this.#queues.get(gathered) as GatherQueue<Item, Result> | undefined
    const queue = known ?? new GatherQueue(gathered)
    if (known === undefined) this.#queues.set(gathered, queue)
    return queue
  }

  /** Sends the queue's items at the end of this turn of the event loop. */
  #schedule(queue: AnyQueue): void {
    if (queue.isReady && !this.#turns.includes(queue)) this.#turns.push(queue)
    if (this.#isScheduled || this.#turns.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#send()
    })
  }

  #send(): void {
    while (this.#idle.length > 0) {
      const queue = this.#turns.shift()
      if (queue === undefined) return
      const connection = this.#idle.pop()
      if (connection !== undefined && queue.isReady) void this.#sendNext(queue, connection)
      if (queue.isReady) this.#turns.push(queue)
    }
  }

  async #sendNext(queue: AnyQueue, connection: Connection): Promise<void> {
    const lost = await queue.runNext((query) => connection.run(query))
    this.#idle.push(connection)
    // The waiting items are rejected too, because they would only wait again for the same error.
    if (lost !== null) this.#rejectAll(lost)
    this.#schedule(queue)
  }

  #rejectAll(error: DatabaseUnavailable): void {
    for (const queue of this.#queues.values()) queue.rejectWaiting(error)
    this.#turns.length = 0
  }
}
