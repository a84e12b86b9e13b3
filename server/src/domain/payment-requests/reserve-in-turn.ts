import type { Database } from '../../db/database.ts'
import { CommitUnknown, DatabaseUnavailable } from '../../db/errors.ts'
import { FairQueue, type QueueEntry } from '../../lib/fair-queue.ts'
import type { FundedRequest } from './read-admission.ts'
import { reservePayment, type Reservation } from './reserve-payment.ts'
import { APART, reservePayments, type WaitingRequest } from './reserve-payments.ts'

/**
 * At most this many requests wait in one process. They hold no database connection. Further requests are rejected
 * immediately.
 */
const WAITING_MAX = 1_000
/** At most this many requests of one workspace wait. Further ones would not be decided within `WAIT_MS_MAX`. */
const WAITING_OF_WORKSPACE_MAX = 250
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

/** The queues of this process. They are stored for each `db` object; a process has only one such object. */
const queues = new WeakMap<Database, ReservationQueue>()

/**
 * Decides on a request and reserves its payment, as `reservePayment` does. Requests that arrive at the same time are
 * decided in one transaction. Throws `DatabaseUnavailable` if too many requests wait, or if this request waited too
 * long. In both cases, nothing was recorded.
 */
export function reserveInTurn(ctx: WaitingRequest['ctx'], funded: FundedRequest): Promise<Reservation> {
  const queue = queues.get(ctx.db) ?? new ReservationQueue(ctx.db)
  queues.set(ctx.db, queue)
  return queue.add(ctx, funded)
}

/**
 * The requests of one process that wait for their decision. A new request waits in `#waiting`. At the end of the
 * current turn of the event loop, or when earlier requests have been decided, it is taken from there together with
 * other requests that are independent of it. If there are no others, the request is decided alone, which costs no more
 * than without a queue. Otherwise the requests are decided in one batch. A request that the batch leaves undecided
 * moves to `#apart`, and is then decided alone.
 */
class ReservationQueue {
  readonly #db: Database
  readonly #waiting = new FairQueue<Entry>({ waitingMax: WAITING_MAX, waitingOfGroupMax: WAITING_OF_WORKSPACE_MAX })
  readonly #apart = new FairQueue<Entry>({ waitingMax: Infinity, waitingOfGroupMax: Infinity })
  #batches = 0
  #singles = 0
  #isScheduled = false

  constructor(db: Database) {
    this.#db = db
  }

  add(ctx: WaitingRequest['ctx'], funded: FundedRequest): Promise<Reservation> {
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>()
    this.#wait(this.#waiting, { ctx, funded, ...placeOf(funded), resolve, reject, timeout: null })
    return promise
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
    setImmediate(() => {
      this.#isScheduled = false
      this.#startSingles()
      this.#startBatches()
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
    stopWaiting(entry)
    await reservePayment(entry.ctx, entry.funded).then(entry.resolve, entry.reject)
    this.#singles -= 1
    this.#waiting.release(entry)
    this.#schedule()
  }

  /** Decides several requests in one transaction. Never rejects. */
  async #runBatch(entries: readonly Entry[]): Promise<void> {
    this.#batches += 1
    entries.forEach(stopWaiting)
    const end = await reserveTogether(this.#db, entries)
    this.#batches -= 1
    for (const entry of entries) {
      this.#waiting.leaveBatch(entry)
      if (end(entry) === 'apart') {
        this.#wait(this.#apart, entry)
      } else {
        this.#waiting.release(entry)
      }
    }
    this.#schedule()
  }
}

function stopWaiting(entry: Entry): void {
  clearTimeout(entry.timeout ?? undefined)
}

/**
 * Decides several requests in one transaction. Returns a function that reports a request's result to the code that
 * waits for it. If the request must be decided alone, the function returns `apart` instead.
 */
async function reserveTogether(db: Database, entries: readonly Entry[]): Promise<(entry: Entry) => 'apart' | 'done'> {
  try {
    const results = await reservePayments(db, entries)
    return (entry) => {
      const result = results.get(entry) ?? APART
      if (result.kind === 'apart') return 'apart'
      entry.resolve(result)
      return 'done'
    }
  } catch (error) {
    // Nothing was recorded, and one request alone may have caused the error. So each is decided alone.
    const isOutage = error instanceof DatabaseUnavailable || error instanceof CommitUnknown
    if (!isOutage) return () => 'apart'
    return (entry) => {
      entry.reject(error)
      return 'done'
    }
  }
}

/**
 * Returns the request's place in the queue. Payments of one wallet wait for each other, so they are decided one by one
 * (D22); this includes the payments under one grant. Requests with the same idempotency key wait for each other too.
 * Live payments of a workspace lock one allowance, so a second batch with such payments would find the allowance
 * locked.
 */
function placeOf({ request: { accountId, mode, wallet, idempotencyKey } }: FundedRequest): QueueEntry {
  const keys = [`wallet ${accountId} ${mode} ${wallet}`]
  if (idempotencyKey !== null) keys.push(`key ${accountId} ${mode} ${idempotencyKey}`)
  return { group: accountId, keys, batchKey: mode === 'live' ? accountId : null }
}
