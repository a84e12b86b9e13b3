import { DatabaseError } from 'pg'
import { DatabaseUnavailable, isLockTimeout, isRetryable } from './errors.ts'

/*
 * Many callers, one statement:
 *
 *     caller: item 1 ─┐                      ┌─ lane 1: items 1, 3 ──> a result for each item
 *     caller: item 2 ─┤   wait until the     │
 *     caller: item 3 ─┼─ turn ends, and a ───┤
 *     caller: item 4 ─┤   lane is free       └─ lane 2: items 2, 5 ──> a result for each item
 *     caller: item 5 ─┘                          (item 4 has the key of item 1, so it waits for it)
 *
 * A batch is done on a lane, such as a database connection, and a lane does one batch at a time. Items that arrive in
 * one turn of the event loop form a batch, and so do items that arrive while all lanes are busy: a quiet process sends
 * small batches at once, and a busy one large batches. A batch that waits for a locked row delays its own items, while
 * the next batch uses another lane.
 *
 * The modes of a work, beside this one:
 *
 * - keys: items with the same key are never in one batch, nor in two at once (`keyOf`);
 * - shared results: the items of a key that wait get the result of the first one (`isShared`);
 * - postponed items: a batch may leave an item out, and the item waits for the next one (`POSTPONED`).
 *
 * What happens to a batch that fails:
 *
 * - The server rejected it: nothing was changed. Each of its items is done again, alone, so that no item can make others
 *   fail. An item that conflicts with another transaction is tried a few times.
 * - The database is lost: its items fail, and so do all that wait, because they would only wait for the same error.
 * - Anything else: its items fail. They are not tried again, because they may have been done.
 */

/** The most items in one batch. More would save little, and each item waits for the slowest one. */
export const ITEMS_PER_BATCH_MAX = 64
/**
 * How many items may wait for a result. A process accepts this many connections, and each connection has one request at
 * a time.
 */
export const ITEMS_WAITING_MAX = 10_000
/** How many times, at most, an item that is done alone is tried, if it conflicts with other transactions each time. */
const ATTEMPTS_ALONE_MAX = 4

/** The result of an item that a batch left out. The item is done in a later batch. */
export const POSTPONED = Symbol('postponed')

/** Work that is done for several callers at once. Each caller has one item, and gets one result. */
export interface BatchedWork<Lane, Item, Result> {
  /**
   * Items with the same key are done one after the other. For example, one statement can count only one request of an
   * API key, so two requests with the same API key need two statements. Null if the items are independent, as the items
   * of a read are.
   */
  keyOf(item: Item): string | null
  /** Returns whether the items with the same key that still wait get this result too. By default, they do not. */
  isShared?(result: Result): boolean
  /** Does the work for these items. Returns one element for each item, in their order. */
  run(lane: Lane, items: readonly Item[]): Promise<readonly (Result | typeof POSTPONED)[]>
}

/** Does works of any number of kinds, which take turns on the same lanes. */
export class Batcher<Lane> {
  readonly #idle: Lane[]
  readonly #queues = new Map<object, AnyQueue<Lane>>()
  /** The queues that have items ready, each once. They take turns. */
  readonly #turns: AnyQueue<Lane>[] = []
  #isScheduled = false
  #isClosed = false
  #waiting = 0

  constructor(lanes: readonly Lane[]) {
    this.#idle = [...lanes]
  }

  /** Throws `DatabaseUnavailable` if the database does not respond, or if too many items are waiting. */
  async run<Item, Result>(work: BatchedWork<Lane, Item, Result>, item: Item): Promise<Result> {
    if (this.#isClosed) throw new DatabaseUnavailable('the database connections are closed')
    if (this.#waiting >= ITEMS_WAITING_MAX) throw new DatabaseUnavailable('too many requests wait for the database')
    const queue = this.#queueOf(work)
    this.#waiting += 1
    const result = queue.add(item)
    this.#schedule(queue)
    try {
      return await result
    } finally {
      this.#waiting -= 1
    }
  }

  /** Rejects all items that wait, and those that come later. The lanes belong to the caller. */
  close(): void {
    this.#isClosed = true
    this.#rejectWaiting(new DatabaseUnavailable('the database connections are closed'))
  }

  #queueOf<Item, Result>(work: BatchedWork<Lane, Item, Result>): WorkQueue<Lane, Item, Result> {
    // Only this function writes to the map, so the queue of a work has the work's types.
    const known = this.#queues.get(work) as WorkQueue<Lane, Item, Result> | undefined
    const queue = known ?? new WorkQueue(work)
    if (known === undefined) this.#queues.set(work, queue)
    return queue
  }

  /** Starts batches at the end of this turn of the event loop. */
  #schedule(queue: AnyQueue<Lane>): void {
    if (queue.isReady && !this.#turns.includes(queue)) this.#turns.push(queue)
    if (this.#isScheduled || this.#turns.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#start()
    })
  }

  #start(): void {
    while (this.#idle.length > 0) {
      const queue = this.#turns.shift()
      if (queue === undefined) return
      const lane = this.#idle.pop()
      if (lane !== undefined && queue.isReady) void this.#runNext(queue, lane)
      if (queue.isReady) this.#turns.push(queue)
    }
  }

  async #runNext(queue: AnyQueue<Lane>, lane: Lane): Promise<void> {
    const lost = await queue.runNext(lane)
    this.#idle.push(lane)
    if (lost !== null) this.#rejectWaiting(lost)
    this.#schedule(queue)
  }

  #rejectWaiting(error: DatabaseUnavailable): void {
    for (const queue of this.#queues.values()) queue.rejectWaiting(error)
    this.#turns.length = 0
  }
}

interface WaitingItem<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  attemptsAlone: number
}

/** Items with the same key, in the order of their arrival. Only the first one may be in a batch. */
interface Line<Item, Result> {
  readonly key: string | null
  first: WaitingItem<Item, Result>
  readonly others: WaitingItem<Item, Result>[]
}

/** A queue of items and results of any type. */
type AnyQueue<Lane> = Pick<WorkQueue<Lane, unknown, unknown>, 'isReady' | 'rejectWaiting' | 'runNext'>

/** The items of one work, from their arrival to their result. */
class WorkQueue<Lane, Item, Result> {
  readonly #work: BatchedWork<Lane, Item, Result>
  readonly #linesByKey = new Map<string, Line<Item, Result>>()
  /** The lines whose first item waits for a batch. */
  #ready: Line<Item, Result>[] = []
  /** The lines whose first item was in a rejected batch, and waits to be done alone. */
  #readyAlone: Line<Item, Result>[] = []

  constructor(work: BatchedWork<Lane, Item, Result>) {
    this.#work = work
  }

  get isReady(): boolean {
    return this.#ready.length + this.#readyAlone.length > 0
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const waiting = { item, resolve, reject, attemptsAlone: 0 }
    const key = this.#work.keyOf(item)
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

  /** Does one batch, and settles its items. Returns the error if the database is lost, otherwise null. */
  async runNext(lane: Lane): Promise<DatabaseUnavailable | null> {
    const isAlone = this.#readyAlone.length > 0
    const lines = isAlone ? this.#readyAlone.splice(0, 1) : this.#ready.splice(0, ITEMS_PER_BATCH_MAX)
    try {
      const items = lines.map(({ first }) => first.item)
      const results = await this.#work.run(lane, items)
      lines.forEach((line, index) => this.#settle(line, results[index]))
      return null
    } catch (error) {
      if (!isRejection(error)) lines.forEach((line) => this.#reject(line, error))
      else if (isAlone) lines.forEach((line) => this.#retryAlone(line, error))
      else this.#readyAlone.push(...lines)
      return error instanceof DatabaseUnavailable && !isLockTimeout(error) ? error : null
    }
  }

  /** Rejects all items that are in no batch. */
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
    if (result === undefined) line.first.reject(new Error('a batch has too few results'))
    else line.first.resolve(result)
    if (result !== undefined && this.#work.isShared?.(result) === true) {
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

/** Returns whether the server has rejected the batch, which has then changed nothing and can be done again. */
function isRejection(error: unknown): boolean {
  return error instanceof DatabaseError || isLockTimeout(error)
}
