import { hash } from 'node:crypto'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { FairPlaces, Ticket } from '../lib/fair-places.ts'
import type { Logger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements, type Trace } from '../lib/measurements.ts'
import type { Pools } from '../lib/pools.ts'
import { SparingQueue } from '../lib/sparing-queue.ts'
import { clientNetwork } from './client-address.ts'
import { createSummedLine } from './summed-line.ts'

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
    /** The request's trace; null until it was let in, or if no traces are kept. */
    trace: Trace | null
    /** Whether the process had too much work for the request. The gate logs such requests itself. */
    isTurnedAway: boolean
  }
}

/** The cookie of a session of the dashboard, whose name has a prefix in production. */
const SESSION_PATTERN = /(?:^|; *)(?:__Host-)?session=([^;]+)/
/** For how many credentials a process remembers the group. It remembers those that were used last. */
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

/** A request is turned away because the process has too much work. Nothing was done for it. */
export class TurnedAway extends Error {
  override readonly name = 'TurnedAway'
}

/** The workspace or person of a credential that was accepted before, or else the network of the client. */
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
 * remembers the workspaces of the credentials that were accepted before, and the people of sessions. It uses them only
 * to decide in whose share a request counts. A request without a credential that the gate remembers is a stranger's.
 * Strangers have a pool of their own, which their networks share.
 */
export class OverloadGate {
  readonly #pools: Pools
  readonly #measurements: Measurements
  /** The groups of credentials, by the hash of the credential. The credential that was used last is at the end. */
  readonly #groups = new Map<string, string>()
  /** Turns requests away, at most one for each connection at a time. */
  readonly #leaving: SparingQueue
  readonly #logTurnedAway: (requestId: string) => void
  #turnedAway = 0

  constructor(deps: { clock: Clock; logger: Logger; pools: Pools; measurements?: Measurements }) {
    const { clock, logger, pools, measurements = NOT_MEASURED } = deps
    this.#pools = pools
    this.#measurements = measurements
    this.#leaving = new SparingQueue({
      perTurnMin: TURNED_AWAY_PER_TURN_MIN,
      timeShareMax: TURNING_AWAY_TIME_SHARE_MAX,
      savedMsMax: TURNING_AWAY_SAVED_MS_MAX,
      clock,
    })
    this.#logTurnedAway = createSummedLine((count, example) => {
      const { inWork, waiting } = this
      logger.warn({ count, example, inWork, waiting }, 'requests were turned away: too much work')
    })
  }

  /** How many requests this process works on, or keeps waiting, without those passed to `leaveWork`. */
  get inWork(): number {
    const { databaseRequests, payments, otherRequests, strangers } = this.#pools
    return [databaseRequests, payments, otherRequests, strangers].reduce((sum, pool) => sum + pool.taken, this.#queued)
  }

  /** How many of the requests in `inWork` wait until the process starts to work on them. */
  get waiting(): number {
    return this.#queued + this.#pools.submissions.waiting
  }

  /** How many requests wait for a place. */
  get #queued(): number {
    const { databaseRequests, payments, otherRequests, strangers } = this.#pools
    return [databaseRequests, payments, otherRequests, strangers].reduce((sum, pool) => sum + pool.waiting, 0)
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
    const group = this.groupOf(request)
    const { load } = request.routeOptions.config
    const decided = (hasPlace: boolean): void => {
      if (hasPlace) this.#letIn(request, reply, done)
      else this.#turnAway(request, done)
    }
    const entered = (hasPlace: boolean): void => {
      if (!hasPlace || load !== 'payment') {
        decided(hasPlace)
        return
      }
      request.submissionTicket = this.#pools.submissions.enter(group.name, decided)
      const { state } = request.submissionTicket
      if (state !== 'waiting') decided(state === 'placed')
    }
    const ticket = this.#placesFor(group, load).enter(group.name, entered)
    request.ticket = ticket
    if (ticket.state !== 'waiting') entered(ticket.state === 'placed')
    const isWaiting = (): boolean => (request.submissionTicket ?? ticket).state === 'waiting'
    if (!isWaiting()) return
    // A request that waits does not begin if its client leaves. Once it has begun, it keeps its place until it is done.
    reply.raw.once('close', () => {
      if (isWaiting()) leaveWork(request)
    })
  }

  #placesFor({ isKnown }: Group, load: FastifyContextConfig['load']): FairPlaces {
    const { databaseRequests, payments, otherRequests, strangers } = this.#pools
    if (!isKnown) return strangers
    if (load === undefined) return otherRequests
    return load === 'database' ? databaseRequests : payments
  }

  /** Remembers that a credential was accepted for a group: a workspace, or for a session, its person. */
  remember(credential: string | undefined, group: string): void {
    if (credential === undefined) return
    const key = keyOf(credential)
    this.#groups.delete(key)
    this.#groups.set(key, group)
    if (this.#groups.size <= CREDENTIALS_MAX) return
    for (const oldest of this.#groups.keys()) {
      this.#groups.delete(oldest)
      return
    }
  }

  /** Forgets a credential that was rejected, so that nobody can use up a group's share with a revoked one. */
  forget(credential: string | undefined): void {
    if (credential !== undefined) this.#groups.delete(keyOf(credential))
  }

  /** Returns in whose share a request counts. */
  readonly groupOf = (request: Pick<FastifyRequest, 'headers' | 'ip'>): Group => {
    const name = this.#recall(request.headers.authorization) ?? this.#recall(sessionOf(request))
    return name === undefined ? { name: clientNetwork(request), isKnown: false } : { name, isKnown: true }
  }

  #recall(credential: string | undefined): string | undefined {
    return credential === undefined ? undefined : this.#groups.get(keyOf(credential))
  }

  /**
   * The trace begins here and not earlier, because the events of an arriving body, or another request that gives up its
   * place, have called this function.
   */
  #letIn(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    request.trace = this.#measurements.startTrace(reply.elapsedTime)
    if (request.trace === null) done()
    else request.trace.run(done)
  }

  #turnAway(request: FastifyRequest, done: (error: Error) => void): void {
    request.isTurnedAway = true
    this.#logTurnedAway(request.id)
    this.#turnedAway += 1
    this.#leaving.add(() => done(TURNED_AWAY))
  }
}

function keyOf(credential: string): string {
  return hash('sha256', credential, 'base64')
}

/** Returns the secret of the session cookie, if the request has one. */
export function sessionOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return SESSION_PATTERN.exec(headers.cookie ?? '')?.[1]
}
