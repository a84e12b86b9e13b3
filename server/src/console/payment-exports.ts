import { addAbortSignal, type Readable } from 'node:stream'
import type { Session } from '../domain/sessions/session.ts'
import { Problem } from '../values/problem.ts'

const SESSION_EXPORTS_MAX = 1
/** Each reads page after page for as long as its reader takes them. */
const EXPORTS_MAX = 3
const FULL_RETRY_SECONDS = 30
/** From the count to the last byte. */
const EXPORT_MS_MAX = 5 * 60_000

interface Export {
  readonly session: string
  readonly ending: AbortController
}

/** All exports of this process. */
export class PaymentExports {
  readonly #open = new Set<Export>()
  readonly #msMax: number
  #isClosed = false

  constructor(msMax: number = EXPORT_MS_MAX) {
    this.#msMax = msMax
  }

  /**
   * What `begin` answers, ended when it takes too long or the service stops. 429 when there are as many as there can be.
   * It counts from the beginning of `begin` until its stream is closed.
   */
  async open(session: Session, begin: (signal: AbortSignal) => Promise<Readable>): Promise<Readable> {
    const one = this.#take(session.secretHash.toString('hex'))
    const { signal } = one.ending
    const limit = setTimeout(() => one.ending.abort(unavailable('The export took too long.')), this.#msMax)
    const leave = (): void => {
      clearTimeout(limit)
      this.#open.delete(one)
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

  /** Ends all of them. */
  close(): void {
    this.#isClosed = true
    for (const { ending } of this.#open) ending.abort(stopping())
  }

  #take(session: string): Export {
    if (this.#isClosed) throw stopping()
    const ofSession = [...this.#open].filter((other) => other.session === session).length
    if (ofSession >= SESSION_EXPORTS_MAX || this.#open.size >= EXPORTS_MAX) {
      throw new Problem('rate_limited', 'Another export is under way. Try again when it is over.', {
        code: 'rate_limit_exceeded',
        retryAfterSeconds: FULL_RETRY_SECONDS,
      })
    }
    const one: Export = { session, ending: new AbortController() }
    this.#open.add(one)
    return one
  }
}

function stopping(): Problem {
  return unavailable('The service is stopping.')
}

function unavailable(message: string): Problem {
  return new Problem('unavailable', message, { retryAfterSeconds: 1 })
}
