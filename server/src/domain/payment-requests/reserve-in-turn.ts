import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from '../../db/database.ts'
import { CommitUnknown, DatabaseUnavailable } from '../../db/errors.ts'
import { readProcessMs } from '../../lib/clock.ts'
import { FairQueue, type QueueEntry } from '../../lib/fair-queue.ts'
import { NOT_MEASURED, type Measurements } from '../../lib/measurements.ts'
import type { Context } from '../context.ts'
import type { FundedRequest } from './decide-admission.ts'
import { reservePayments, type BatchedReservation, type Reservation, type WaitingRequest } from './reserve-payments.ts'

declare module '../context.ts' {
  interface Context {
    /** The payment requests of this process that wait for their decision. */
    readonly reservations: ReservationQueue
  }
}

/**
 * At most this many requests wait in one process. They hold no database connection. Further requests are rejected
 * immediately.
 */
const WAITING_MAX = 1_000
/** At most this many requests of one person wait. Further ones would not be decided within `WAIT_MS_MAX`. */
const WAITING_OF_PERSON_MAX = 250
/** A request that waits longer than this until its decision starts is rejected, and nothing is recorded. */
const WAIT_MS_MAX = 5_000
/**
 * At most this many requests are decided in one transaction. A larger transaction would hold its locks longer, and save
 * little more.
 */
const BATCH_REQUESTS_MAX = 32
/** At most this many batches are in progress. There may be several, so that a slow batch does not hold up the next. */
const BATCHES_IN_PROGRESS_MAX = 3
/** At most this many transactions that decide only one request are in progress. Each may wait for a lock. */
const SINGLES_IN_PROGRESS_MAX = 4

interface Entry extends WaitingRequest, QueueEntry {
  readonly resolve: (reservation: Reservation) => void
  readonly reject: (error: unknown) => void
  timeout: NodeJS.Timeout | null
}

/**
 * The requests of one process that wait for their decision. A new request waits in `#waiting`. At the end of the
 * current turn of the event loop, or when earlier requests have been decided, it is taken from there together with
 * other requests that are independent of it. If there are no others, the request is decided alone, which costs no more
 * than without a queue. Otherwise the requests are decided in one batch. A request that the batch leaves undecided
 * moves to `#apart`, and is then decided alone.
 */
export class ReservationQueue {
  readonly #db: Database
  readonly #measurements: Measurements
  /** Runs a function outside of the requests' traces. A transaction belongs to several requests. */
  readonly #runOutside = AsyncLocalStorage.snapshot()
  readonly #waiting = new FairQueue<Entry>({ waitingMax: WAITING_MAX, waitingOfGroupMax: WAITING_OF_PERSON_MAX })
  readonly #apart = new FairQueue<Entry>({ waitingMax: Infinity, waitingOfGroupMax: Infinity })
  #batches = 0
  #singles = 0
  #isScheduled = false

  constructor(db: Database, measurements = NOT_MEASURED) {
    this.#db = db
    this.#measurements = measurements
  }

  /**
   * Decides on a request and reserves its payment, as `reservePayments` does. Throws `DatabaseUnavailable` if too many
   * requests wait, or if this request waited too long. In both cases, nothing was recorded.
   */
  async add(ctx: WaitingRequest['ctx'], funded: FundedRequest): Promise<Reservation> {
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>()
    const start = readProcessMs()
    this.#wait(this.#waiting, { ctx, funded, ...placeOf(ctx, funded), resolve, reject, timeout: null })
    let outcome: 'ok' | 'failed' = 'failed'
    try {
      const reservation = await promise
      outcome = 'ok'
      return reservation
    } finally {
      this.#measurements.databaseUsed('transaction', 'reserve_payments', outcome, readProcessMs() - start)
    }
  }

  /** Adds an entry to a queue. Rejects it at once if the queue is full, and later if it waits too long. */
  #wait(queue: FairQueue<Entry>, entry: Entry): void {
    if (!queue.add(entry)) {
      entry.reject(new DatabaseUnavailable('too many payment requests are waiting'))
      return
    }
    entry.timeout = setTimeout(() => this.#giveUp(queue, entry), WAIT_MS_MAX)
    this.#schedule()
  }

  #giveUp(queue: FairQueue<Entry>, entry: Entry): void {
    queue.remove(entry)
    if (queue === this.#apart) this.#waiting.release(entry)
    entry.reject(new DatabaseUnavailable('a payment request has waited too long'))
    this.#schedule()
  }

  /**
   * At the end of this turn of the event loop, starts every transaction that can start, with all requests that have
   * arrived by then.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#runOutside(() => {
      setImmediate(() => {
        this.#isScheduled = false
        this.#startSingles()
        this.#startBatches()
      })
    })
  }

  #startSingles(): void {
    while (this.#singles < SINGLES_IN_PROGRESS_MAX) {
      const [entry] = this.#apart.take(1)
      if (entry === undefined) return
      this.#apart.leaveBatch(entry)
      this.#apart.release(entry)
      void this.#runSingle(entry)
    }
  }

  #startBatches(): void {
    while (this.#batches < BATCHES_IN_PROGRESS_MAX) {
      const entries = this.#waiting.take(BATCH_REQUESTS_MAX)
      const [first] = entries
      if (first === undefined) return
      if (entries.length > 1 || this.#singles >= SINGLES_IN_PROGRESS_MAX) {
        void this.#runBatch(entries)
      } else {
        this.#waiting.leaveBatch(first)
        void this.#runSingle(first)
      }
    }
  }

  /** Decides one request alone, and waits for the locks of other transactions. Never rejects. */
  async #runSingle(entry: Entry): Promise<void> {
    this.#singles += 1
    const apart = await this.#decide([entry], { waits: true })
    if (apart.length > 0) entry.reject(new Error('a request was left undecided, although nothing else held its locks'))
    this.#singles -= 1
    this.#waiting.release(entry)
    this.#schedule()
  }

  /** Decides several requests in one transaction. Those that must be decided alone wait again. Never rejects. */
  async #runBatch(entries: readonly Entry[]): Promise<void> {
    this.#batches += 1
    const apart = await this.#decide(entries, { waits: false })
    this.#batches -= 1
    for (const entry of entries) {
      this.#waiting.leaveBatch(entry)
      if (apart.includes(entry)) this.#wait(this.#apart, entry)
      else this.#waiting.release(entry)
    }
    this.#schedule()
  }

  /** Decides requests, tells each caller the result, and returns the entries that must be decided alone. */
  async #decide(entries: readonly Entry[], { waits }: { waits: boolean }): Promise<Entry[]> {
    for (const { timeout } of entries) clearTimeout(timeout ?? undefined)
    try {
      const results = await reservePayments(this.#db, entries, { waits })
      return entries.filter((entry) => !settle(entry, results.get(entry)))
    } catch (error) {
      // Unless the database failed, nothing was recorded, and one request of several may have caused the error. So each
      // is decided alone.
      const isOutage = error instanceof DatabaseUnavailable || error instanceof CommitUnknown
      if (!waits && !isOutage) return [...entries]
      for (const { reject } of entries) reject(error)
      return []
    }
  }
}

/** Tells the caller the result of its request. Returns false if the request must be decided alone. */
function settle({ resolve }: Entry, result: BatchedReservation | undefined): boolean {
  if (result === undefined || result.kind === 'apart') return false
  resolve(result)
  return true
}

/**
 * Returns the request's place in the queue. All workspaces of one person are one group (D91). Payments of one wallet wait for each other, so they are decided one by one
 * (D22); this includes the payments under one grant. Requests with the same idempotency key wait for each other too.
 * Live payments of a workspace lock one allowance, so a second batch with such payments would find the allowance
 * locked.
 */
function placeOf(
  { pools }: Pick<Context, 'pools'>,
  { request: { workspaceId, mode, wallet, idempotencyKey } }: FundedRequest,
): QueueEntry {
  const keys = [`wallet ${workspaceId} ${mode} ${wallet}`]
  if (idempotencyKey !== null) keys.push(`key ${workspaceId} ${mode} ${idempotencyKey}`)
  return { group: pools.creators.holderOf(workspaceId), keys, batchKey: mode === 'live' ? workspaceId : null }
}
