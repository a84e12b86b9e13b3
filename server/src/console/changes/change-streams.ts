import type { Context } from '../../domain/context.ts'
import type { Place } from '../../domain/payments/changes/change.ts'
import { isPresent } from '../../domain/people/is-present.ts'
import type { Session } from '../../domain/people/session.ts'
import { Problem } from '../../values/problem.ts'
import { ChangeFeed } from './change-feed.ts'
import { openChangeStream, STREAM_TIMES, type ChangeStream, type StreamTimes } from './change-stream.ts'

/** A browser holds six connections to one host at the most, and needs one to work with. */
const SESSION_STREAMS_MAX = 5
/** Each is a connection, and a place to look at every second. */
const STREAMS_MAX = 200
const FULL_RETRY_SECONDS = 30

/** All streams of changes of this process. */
export class ChangeStreams {
  readonly #ctx: Context
  readonly #times: StreamTimes
  readonly #feed: ChangeFeed
  /** Each with its session's key. */
  readonly #open = new Map<ChangeStream, string>()
  #isClosed = false

  constructor(ctx: Context, times: StreamTimes = STREAM_TIMES) {
    this.#ctx = ctx
    this.#times = times
    this.#feed = new ChangeFeed(ctx)
  }

  /** Opens a stream for whoever is signed in and belongs to the workspace. 429 when there are as many as there can be. */
  open({ place, session, slug }: { place: Place; session: Session; slug: string }): ChangeStream['source'] {
    if (this.#isClosed) throw new Problem('unavailable', 'The service is stopping.', { retryAfterSeconds: 1 })
    const sessionKey = session.secretHash.toString('hex')
    const ofSession = [...this.#open.values()].filter((key) => key === sessionKey).length
    if (ofSession >= SESSION_STREAMS_MAX || this.#open.size >= STREAMS_MAX) {
      throw new Problem('rate_limited', 'Too many pages are listening for changes.', {
        code: 'rate_limit_exceeded',
        retryAfterSeconds: FULL_RETRY_SECONDS,
      })
    }
    const stream = openChangeStream(this.#feed, {
      place,
      isPresent: () => isPresent(this.#ctx, { session, slug }),
      logger: this.#ctx.logger,
      times: this.#times,
    })
    this.#open.set(stream, sessionKey)
    stream.source.once('close', () => this.#open.delete(stream))
    return stream.source
  }

  /** Ends all streams, and waits until nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const stream of this.#open.keys()) stream.end()
    await this.#feed.stopped()
  }
}
