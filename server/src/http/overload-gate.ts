import { hash } from 'node:crypto'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { FairPlaces, type Ticket } from '../lib/fair-places.ts'
import type { Logger } from '../lib/logger.ts'
import { SparingQueue } from '../lib/sparing-queue.ts'
import { clientAddress } from './client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `database` means that a request to this route waits for nothing but the database. `payment` means that it makes a
     * payment, and `purchase` that it pays for a resource. Any other request may also wait for the enclave, a chain, or
     * somebody else's server.
     */
    readonly load?: 'database' | 'payment' | 'purchase'
  }
  interface FastifyInstance {
    readonly overloadGate: OverloadGate
  }
  interface FastifyRequest {
    /** The request's place among the requests that the process works on. */
    ticket: Ticket | null
    /** Only for the kind `payment`: the request's place among those that are not at the enclave yet. */
    submissionTicket: Ticket | null
    /** Whether the process had too much work for the request. The gate logs such requests itself. */
    isTurnedAway: boolean
  }
}

/**
 * How many requests of the kind `database` a process works on at once. This many keep the process and its database
 * connections busy. More requests would only wait in later queues, which are not shared fairly between workspaces.
 */
const DATABASE_REQUESTS_MAX = 128
/** How many requests of the kind `database` may wait. A process serves this many in about a tenth of a second. */
const DATABASE_REQUESTS_WAITING_MAX = 512
/**
 * How long a request of the kind `database` waits at most. The wait is much shorter unless the database itself is slow.
 */
const WAIT_MS_MAX = 1_000
/**
 * How many requests of the kinds `payment` and `purchase` a process keeps at once. They wait for the enclave most of
 * their time. There is no queue for further ones, because a process already needs about a second to serve this many.
 */
const PAYMENTS_MAX = 512
/**
 * How many requests of the kind `payment` a process prepares at once, until they wait for the enclave. The others wait
 * before anything is done for them. If more were prepared at once, each turn of the event loop would take longer, and
 * every request of the process would wait for it.
 */
const PAYMENTS_BEFORE_SUBMISSION_MAX = 32
/** How long a payment waits at most until the process starts to work on it. */
const PAYMENT_WAIT_MS_MAX = 3_000
/**
 * How many requests of neither kind a process works on at once. Their limit is separate from that of payments, so that
 * people can work while many payments wait for a slow enclave.
 */
const OTHER_REQUESTS_MAX = 512
/** For how many credentials a process remembers the workspace. It remembers those that were used last. */
const CREDENTIALS_MAX = 10_000
/**
 * Turning requests away may take this share of the process's time. So if clients try again at once, there is still time
 * for the requests that were let in. Requests that cannot be turned away within this share wait for the next turns of
 * the event loop.
 */
const TURNING_AWAY_TIME_SHARE_MAX = 0.125
/** At least this many requests are turned away in a turn of the event loop, even if that exceeds the share of time. */
const TURNED_AWAY_PER_TURN_MIN = 16
/** A wave of about a thousand requests can be turned away in this time, if nothing was turned away before it. */
const TURNING_AWAY_SAVED_MS_MAX = 100
const LOG_INTERVAL_MS = 1_000

/** A request is turned away because the process has too much work. Nothing was done for it. */
export class TurnedAway extends Error {
  override readonly name = 'TurnedAway'
}

/** The workspace of a credential that was accepted before, or else the address of the client. */
export interface Group {
  readonly name: string
  readonly isKnown: boolean
}

/** All requests that are turned away share this error, because it has to be cheap to turn a request away. */
const TURNED_AWAY = new TurnedAway('the process has too much work')

/**
 * Stops counting a request whose handler is done, or that only waits from now on, such as an open stream. What follows
 * has limits of its own.
 */
export function leaveWork(request: FastifyRequest): void {
  request.submissionTicket?.leave()
  request.ticket?.leave()
}

/** Lets the next payment start, because this request only waits for the enclave from now on. */
export function leaveSubmission(request: FastifyRequest): void {
  request.submissionTicket?.leave()
}

/**
 * Limits the requests that a process works on, and turns all others away before anything is done for them. Each
 * workspace may use only a share of the limit. Which workspace sends a request is known only after a query, so the gate
 * remembers the workspaces of the credentials that were accepted before. It uses them only to decide in whose share a
 * request counts. A request without a credential that the gate remembers counts in the share of the client's address.
 */
export class OverloadGate {
  readonly #database = new FairPlaces({
    placesMax: DATABASE_REQUESTS_MAX,
    waitingMax: DATABASE_REQUESTS_WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
  })
  readonly #payments = new FairPlaces({ placesMax: PAYMENTS_MAX, waitingMax: 0, waitMsMax: WAIT_MS_MAX })
  readonly #submissions = new FairPlaces({
    placesMax: PAYMENTS_BEFORE_SUBMISSION_MAX,
    waitingMax: PAYMENTS_MAX,
    waitMsMax: PAYMENT_WAIT_MS_MAX,
  })
  readonly #others = new FairPlaces({ placesMax: OTHER_REQUESTS_MAX, waitingMax: 0, waitMsMax: WAIT_MS_MAX })
  /** The workspaces of credentials, by the hash of the credential. The credential that was used last is at the end. */
  readonly #workspaces = new Map<string, string>()
  readonly #logger: Logger
  /** Turns requests away, at most one for each connection at a time. */
  readonly #leaving: SparingQueue
  /** How many requests were turned away since the last line in the log. */
  #unlogged = 0
  #turnedAway = 0

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#logger = logger
    this.#leaving = new SparingQueue({
      perTurnMin: TURNED_AWAY_PER_TURN_MIN,
      timeShareMax: TURNING_AWAY_TIME_SHARE_MAX,
      savedMsMax: TURNING_AWAY_SAVED_MS_MAX,
      clock,
    })
  }

  /** How many requests this process works on, or keeps waiting, without those passed to `leaveWork`. */
  get inWork(): number {
    return this.#database.taken + this.#database.waiting + this.#payments.taken + this.#others.taken
  }

  /** How many of the requests in `inWork` wait until the process starts to work on them. */
  get waiting(): number {
    return this.#database.waiting + this.#submissions.waiting
  }

  /** How many requests were turned away since the process started. */
  get turnedAway(): number {
    return this.#turnedAway
  }

  /**
   * The hook that lets a request in, now or soon, or fails with `TurnedAway`. It runs when the whole request is there, and
   * before any query for it.
   */
  readonly hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const decided = (hasPlace: boolean): void => {
      if (hasPlace) done()
      else this.#turnAway(request, done)
    }
    const group = this.groupOf(request).name
    const { load } = request.routeOptions.config
    const ticket = this.#placesFor(load).enter(group, decided)
    if (ticket.state === 'rejected') {
      decided(false)
      return
    }
    request.ticket = ticket
    if (load === 'payment') request.submissionTicket = this.#submissions.enter(group, decided)
    const { state } = request.submissionTicket ?? ticket
    if (state !== 'waiting') {
      decided(state === 'placed')
      return
    }
    // A request that waits does not begin if its client leaves. Once it has begun, it keeps its place until it is done.
    reply.raw.once('close', () => {
      if ((request.submissionTicket ?? ticket).state === 'waiting') leaveWork(request)
    })
  }

  #placesFor(load: FastifyContextConfig['load']): FairPlaces {
    if (load === undefined) return this.#others
    return load === 'database' ? this.#database : this.#payments
  }

  /** Remembers that a credential was accepted for a workspace. */
  remember({ headers }: Pick<FastifyRequest, 'headers'>, accountId: string): void {
    const key = keyOf(headers.authorization)
    if (key === null) return
    this.#workspaces.delete(key)
    this.#workspaces.set(key, accountId)
    if (this.#workspaces.size <= CREDENTIALS_MAX) return
    for (const oldest of this.#workspaces.keys()) {
      this.#workspaces.delete(oldest)
      return
    }
  }

  /** Forgets a credential that was rejected, so that nobody can use up a workspace's share with a revoked one. */
  forget({ headers }: Pick<FastifyRequest, 'headers'>): void {
    const key = keyOf(headers.authorization)
    if (key !== null) this.#workspaces.delete(key)
  }

  /** Returns in whose share a request counts. */
  readonly groupOf = (request: FastifyRequest): Group => {
    const key = keyOf(request.headers.authorization)
    const workspace = key === null ? undefined : this.#workspaces.get(key)
    return workspace === undefined
      ? { name: clientAddress(request), isKnown: false }
      : { name: workspace, isKnown: true }
  }

  #turnAway(request: FastifyRequest, done: (error: Error) => void): void {
    request.isTurnedAway = true
    if (this.#unlogged === 0) setTimeout(() => this.#log(), LOG_INTERVAL_MS).unref()
    this.#unlogged += 1
    this.#turnedAway += 1
    this.#leaving.add(() => done(TURNED_AWAY))
  }

  /** One line for all requests of the last second, because a line for each would add to the overload. */
  #log(): void {
    const { inWork, waiting } = this
    this.#logger.warn({ count: this.#unlogged, inWork, waiting }, 'requests were turned away: too much work')
    this.#unlogged = 0
  }
}

function keyOf(authorization: string | undefined): string | null {
  return authorization === undefined ? null : hash('sha256', authorization, 'base64')
}
