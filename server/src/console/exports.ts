import { addAbortSignal, type Readable } from 'node:stream'
import type { Session } from '../domain/sessions/session.ts'
import type { FairPlaces, Ticket } from '../lib/fair-places.ts'
import { Problem } from '../values/problem.ts'

const SESSION_EXPORTS_MAX = 1
const FULL_RETRY_SECONDS = 30
/** The longest time of an export, from the first query to the last byte. */
const EXPORT_MS_MAX = 5 * 60_000

interface Export {
  readonly session: string
  readonly ending: AbortController
  readonly ticket: Ticket
}

/** The exports that are running in this process. */
export class Exports {
  readonly #open = new Set<Export>()
  readonly #places: FairPlaces
  readonly #msMax: number
  #isClosed = false

  constructor(places: FairPlaces, msMax: number = EXPORT_MS_MAX) {
    this.#places = places
    this.#msMax = msMax
  }

  /**
   * Starts an export and returns its stream. The stream ends early if it takes too long, if the service stops, or if a
   * newcomer needs its place (D91). Throws 429 if too many exports are running. An export counts as running from the
   * call of `begin` until its stream is closed. The signal then says that nothing more must be read, also if the client
   * is gone.
   */
  async open(
    { session, workspaceId }: { session: Session; workspaceId: string },
    begin: (signal: AbortSignal) => Promise<Readable>,
  ): Promise<Readable> {
    const one = this.#take(session.secretHash.toString('hex'), workspaceId)
    const { signal } = one.ending
    const limit = setTimeout(
      () => one.ending.abort(unavailable('The export took too long. Choose a shorter time range.')),
      this.#msMax,
    )
    const leave = (): void => {
      clearTimeout(limit)
      this.#open.delete(one)
      one.ticket.leave()
      one.ending.abort(unavailable('The export has ended.'))
    }
    try {
      const source = await begin(signal)
      source.once('close', leave)
      return addAbortSignal(signal, source)
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Ends all exports. */
  close(): void {
    this.#isClosed = true
    for (const { ending } of this.#open) ending.abort(stopping())
  }

  #take(session: string, workspaceId: string): Export {
    if (this.#isClosed) throw stopping()
    const ofSession = [...this.#open].filter((other) => other.session === session).length
    const ending = new AbortController()
    const end = (): void => ending.abort(unavailable('Too many exports are running. Try again in a few seconds.'))
    const ticket = ofSession < SESSION_EXPORTS_MAX ? this.#places.enter(workspaceId, () => undefined, { end }) : null
    if (ticket?.state !== 'placed') {
      throw new Problem('rate_limited', 'Another export is running. Try again when it has finished.', {
        code: 'rate_limit_exceeded',
        retryAfterSeconds: FULL_RETRY_SECONDS,
      })
    }
    const one: Export = { session, ending, ticket }
    this.#open.add(one)
    return one
  }
}

function stopping(): Problem {
  return unavailable('The service is stopping. Try again in a few seconds.')
}

function unavailable(message: string): Problem {
  return new Problem('unavailable', message, { retryAfterSeconds: 1 })
}
