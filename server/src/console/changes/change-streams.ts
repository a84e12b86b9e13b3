import type { Context } from '../../domain/context.ts'
import type { Place } from '../../domain/reports/changes/change.ts'
import { isSessionActive } from '../../domain/sessions/queries.ts'
import type { Session } from '../../domain/sessions/session.ts'
import type { Ticket } from '../../lib/fair-places.ts'
import { Problem } from '../../values/problem.ts'
import { ChangeFeed } from './change-feed.ts'
import { openChangeStream, STREAM_TIMES, type ChangeStream, type StreamTimes } from './change-stream.ts'

/**
 * One session may have at most this many streams. A browser opens at most six connections to one host, and needs one of
 * them for other requests.
 */
const SESSION_STREAMS_MAX = 5
const USER_STREAMS_MAX = 10
const FULL_RETRY_SECONDS = 30

/** The session and person that opened a stream. */
interface Listener {
  readonly session: string
  readonly userId: string
}

/** The change streams that are open in this process. */
export class ChangeStreams {
  readonly #ctx: Context
  readonly #times: StreamTimes
  readonly #feed: ChangeFeed
  /** The open streams, the oldest first. */
  readonly #open = new Map<ChangeStream, Listener & { readonly ticket: Ticket }>()
  #isClosed = false

  constructor(ctx: Context, times: StreamTimes = STREAM_TIMES) {
    this.#ctx = ctx
    this.#times = times
    this.#feed = new ChangeFeed(ctx)
  }

  /**
   * Opens a stream for a member of the workspace. If the session or the person has reached the limit, the new stream
   * replaces their oldest stream, which may belong to a page that no longer exists. Throws 429 if the process has no
   * place for a further stream of the workspace (D91).
   */
  open({ place, session, slug }: { place: Place; session: Session; slug: string }): ChangeStream['source'] {
    if (this.#isClosed)
      throw new Problem('unavailable', 'The service is stopping. Try again in a few seconds.', { retryAfterSeconds: 1 })
    const listener = { session: session.secretHash.toString('hex'), userId: session.userId }
    this.#endOldest(listener)
    const end = (): void => this.#giveWay(stream)
    const ticket = this.#ctx.pools.changeStreams.enter(place.workspaceId, () => undefined, { end })
    if (ticket.state !== 'placed') {
      throw new Problem(
        'rate_limited',
        'Too many pages of this workspace are open. Close some of them and reload this page.',
        { code: 'rate_limit_exceeded', retryAfterSeconds: FULL_RETRY_SECONDS },
      )
    }
    const stream = openChangeStream(this.#feed, {
      place,
      isSessionActive: () => isSessionActive(this.#ctx, { session, slug }),
      logger: this.#ctx.logger,
      times: this.#times,
    })
    this.#open.set(stream, { ...listener, ticket })
    stream.source.once('close', () => {
      this.#open.delete(stream)
      ticket.leave()
    })
    return stream.source
  }

  /** Ends all streams, and waits until the last query has finished. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const stream of this.#open.keys()) stream.end()
    await this.#feed.stopped()
  }

  #endOldest({ session, userId }: Listener): void {
    const all = [...this.#open]
    const ofSession = all.filter(([, other]) => other.session === session)
    const ofUser = all.filter(([, other]) => other.userId === userId)
    const oldest =
      (ofSession.length >= SESSION_STREAMS_MAX ? ofSession[0] : undefined) ??
      (ofUser.length >= USER_STREAMS_MAX ? ofUser[0] : undefined)
    if (oldest !== undefined) this.#giveWay(oldest[0])
  }

  #giveWay(stream: ChangeStream): void {
    this.#open.get(stream)?.ticket.leave()
    this.#open.delete(stream)
    stream.giveWay()
  }
}
