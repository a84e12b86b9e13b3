import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../lib/logger.ts'
import type { Database } from './database.ts'
import type { Query } from './query.ts'

const WRITES_WAITING_MAX = 100
/**
 * When the service stops, it waits this long for the writes in the queue. Writes that are not done by then are lost.
 */
const DRAIN_MS_MAX = 2_000

/**
 * A queue of writes that no caller waits for, and that may be lost, such as a log of refused requests. They run one
 * after the other, in order, on the connections for slow reads: a response never waits for them.
 */
export class DeferredWrites {
  readonly #db: Pick<Database, 'write'>
  readonly #logger: Logger
  readonly #waiting: Query<unknown>[] = []
  #work: Promise<void> | null = null
  #isDropping = false
  #isClosed = false

  constructor(db: Pick<Database, 'write'>, logger: Logger) {
    this.#db = db
    this.#logger = logger
  }

  /** Adds a write. While too many writes are waiting, new writes are dropped, and one warning is logged. */
  add(query: Query<unknown>): void {
    if (this.#isClosed || this.#waiting.length >= WRITES_WAITING_MAX) {
      if (!this.#isDropping)
        this.#logger.warn({ query: query.name }, 'too many deferred writes are waiting: new ones are dropped')
      this.#isDropping = true
      return
    }
    this.#waiting.push(query)
    this.#work ??= this.#writeAll()
  }

  /** Accepts no more writes, and waits a short time for the writes in the queue. */
  async close(): Promise<void> {
    this.#isClosed = true
    const late = new AbortController()
    const { signal } = late
    const limit = delay(DRAIN_MS_MAX, undefined, { signal }).catch(() => undefined)
    await Promise.race([this.#work, limit])
    late.abort()
    if (this.#waiting.length > 0) {
      this.#logger.warn(
        { count: this.#waiting.length },
        'deferred writes were lost, because the service stopped before they were done',
      )
      this.#waiting.length = 0
    }
  }

  async #writeAll(): Promise<void> {
    for (let query = this.#waiting.shift(); query !== undefined; query = this.#waiting.shift()) {
      await this.#db.write(query, { mayBeLost: true, isSlow: true }).catch((error: unknown) => {
        this.#logger.warn({ err: error, query: query?.name }, 'a deferred write failed')
      })
    }
    this.#work = null
    this.#isDropping = false
  }
}
