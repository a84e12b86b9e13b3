import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../lib/logger.ts'
import type { Query } from './query.ts'

const WRITES_WAITING_MAX = 100
/** What is not written by then, when the service stops, is lost. */
const DRAIN_MS_MAX = 2_000

/** Writes that nobody waits for and that may be lost: one after the other, in their order. */
export class DeferredWrites {
  readonly #run: (query: Query<unknown>) => Promise<unknown>
  readonly #logger: Logger
  readonly #waiting: Query<unknown>[] = []
  #work: Promise<void> | null = null
  #isDropping = false
  #isClosed = false

  constructor(run: (query: Query<unknown>) => Promise<unknown>, logger: Logger) {
    this.#run = run
    this.#logger = logger
  }

  /** Dropped, with one warning for all, while too many wait. */
  add(query: Query<unknown>): void {
    if (this.#isClosed || this.#waiting.length >= WRITES_WAITING_MAX) {
      if (!this.#isDropping) this.#logger.warn({ query: query.name }, 'writes that nobody waits for are dropped')
      this.#isDropping = true
      return
    }
    this.#waiting.push(query)
    this.#work ??= this.#writeAll()
  }

  /** Waits a little for what is not written yet, and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    const late = new AbortController()
    const { signal } = late
    const limit = delay(DRAIN_MS_MAX, undefined, { signal }).catch(() => undefined)
    await Promise.race([this.#work, limit])
    late.abort()
    if (this.#waiting.length > 0) {
      this.#logger.warn({ count: this.#waiting.length }, 'writes that nobody waited for are lost')
      this.#waiting.length = 0
    }
  }

  async #writeAll(): Promise<void> {
    for (let query = this.#waiting.shift(); query !== undefined; query = this.#waiting.shift()) {
      await this.#run(query).catch((error: unknown) => {
        this.#logger.warn({ err: error, query: query?.name }, 'a write that nobody waits for failed')
      })
    }
    this.#work = null
    this.#isDropping = false
  }
}
