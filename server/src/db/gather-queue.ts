import { DatabaseError } from 'pg'
import { DatabaseUnavailable, isLockTimeout, isRetryable } from './errors.ts'
import { POSTPONED, type GatheredQuery } from './gathered-query.ts'
import type { Query } from './query.ts'

/** The most items in one statement. More would save little, and each item waits for the slowest one. */
export const ITEMS_PER_STATEMENT_MAX = 64
/**
 * How many times, at most, an item that runs alone is tried, if its statement conflicts with other statements each
 * time.
 */
const ATTEMPTS_ALONE_MAX = 4

interface WaitingItem<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  attemptsAlone: number
}

/** Items with the same key, in the order of their arrival. Only the first one may be in a statement. */
interface Line<Item, Result> {
  readonly key: string | null
  first: WaitingItem<Item, Result>
  readonly others: WaitingItem<Item, Result>[]
}

/**
 * The items of one gathered query, from their arrival to their result.
 *
 * A key is never in two statements at once, so a key whose row is locked holds up one statement and not all. If the
 * server rejects a statement, nothing was changed, and each of its items runs again in a statement of its own. So an
 * item cannot make other items fail.
 */
export class GatherQueue<Item, Result> {
  readonly #gathered: GatheredQuery<Item, Result>
  readonly #linesByKey = new Map<string, Line<Item, Result>>()
  /** The lines whose first item waits for a statement. */
  #ready: Line<Item, Result>[] = []
  /** The lines whose first item was in a rejected statement, and waits to run alone. */
  #readyAlone: Line<Item, Result>[] = []

  constructor(gathered: GatheredQuery<Item, Result>) {
    this.#gathered = gathered
  }

  get isReady(): boolean {
    return this.#ready.length + this.#readyAlone.length > 0
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const waiting = { item, resolve, reject, attemptsAlone: 0 }
    const key = this.#gathered.keyOf(item)
    const known = key === null ? undefined : this.#linesByKey.get(key)
    if (known !== undefined) {
      known.others.push(waiting)
      return promise
    }
    const line = { key, first: waiting, others: [] }
    if (key !== null) this.#linesByKey.set(key, line)
    this.#ready.push(line)
    return promise
  }

  /**
   * Runs one statement with items that are ready, and settles them. Returns the error if the statement shows that the
   * database is lost, otherwise null.
   */
  async runNext(
    run: (query: Query<readonly (Result | typeof POSTPONED)[]>) => Promise<readonly (Result | typeof POSTPONED)[]>,
  ): Promise<DatabaseUnavailable | null> {
    const isAlone = this.#readyAlone.length > 0
    const lines = isAlone ? this.#readyAlone.splice(0, 1) : this.#ready.splice(0, ITEMS_PER_STATEMENT_MAX)
    try {
      const results = await run(this.#gathered.queryOf(lines.map(({ first }) => first.item)))
      lines.forEach((line, index) => this.#settle(line, results[index]))
      return null
    } catch (error) {
      if (!isRejection(error)) lines.forEach((line) => this.#reject(line, error))
      else if (isAlone) lines.forEach((line) => this.#retryAlone(line, error))
      else this.#readyAlone.push(...lines)
      return error instanceof DatabaseUnavailable && !isLockTimeout(error) ? error : null
    }
  }

  /** Rejects all items that are in no statement. */
  rejectWaiting(error: unknown): void {
    const lines = [...this.#ready, ...this.#readyAlone]
    this.#ready = []
    this.#readyAlone = []
    for (const line of lines) this.#rejectLine(line, error)
  }

  #settle(line: Line<Item, Result>, result: Result | typeof POSTPONED | undefined): void {
    if (result === POSTPONED) {
      this.#ready.push(line)
      return
    }
    if (result === undefined) line.first.reject(new Error('a gathered statement has too few results'))
    else line.first.resolve(result)
    if (result !== undefined && this.#gathered.isShared?.(result) === true) {
      for (const { resolve } of line.others.splice(0)) resolve(result)
    }
    this.#advance(line)
  }

  #retryAlone(line: Line<Item, Result>, error: unknown): void {
    line.first.attemptsAlone += 1
    if (isRetryable(error) && line.first.attemptsAlone < ATTEMPTS_ALONE_MAX) this.#readyAlone.push(line)
    else this.#reject(line, error)
  }

  /**
   * If the database is unavailable or the row of the line's key is locked, the other items of the line are rejected
   * too. They would get the same error, but only after another wait.
   */
  #reject(line: Line<Item, Result>, error: unknown): void {
    if (error instanceof DatabaseUnavailable) {
      this.#rejectLine(line, error)
      return
    }
    line.first.reject(error)
    this.#advance(line)
  }

  #rejectLine(line: Line<Item, Result>, error: unknown): void {
    if (line.key !== null) this.#linesByKey.delete(line.key)
    for (const waiting of [line.first, ...line.others]) waiting.reject(error)
  }

  #advance(line: Line<Item, Result>): void {
    const next = line.others.shift()
    if (next !== undefined) {
      line.first = next
      this.#ready.push(line)
    } else if (line.key !== null) {
      this.#linesByKey.delete(line.key)
    }
  }
}

/** Returns whether the server has rejected the statement, which has then changed nothing and can be run again. */
function isRejection(error: unknown): boolean {
  return error instanceof DatabaseError || isLockTimeout(error)
}
