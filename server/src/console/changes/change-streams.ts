import type { Context } from '../../domain/context.ts'
import type { Place } from '../../domain/reports/changes/change.ts'
import { isSessionActive } from '../../domain/sessions/queries.ts'
import type { Session } from '../../domain/sessions/session.ts'
import { Problem } from '../../values/problem.ts'
import { ChangeFeed } from './change-feed.ts'
import { openChangeStream, STREAM_TIMES, type ChangeStream, type StreamTimes } from './change-stream.ts'

/**
 * One session may have at most this many streams. A browser opens at most six connections to one host, and needs one of
 * them for other requests.
 */
const SESSION_STREAMS_MAX = 5
const USER_STREAMS_MAX = 10
const ACCOUNT_STREAMS_MAX = 50
/**
 * This process may have at most this many streams. Each stream needs a connection, and makes the query that runs every
 * second take longer.
 */
const STREAMS_MAX = 200
const FULL_RETRY_SECONDS = 30

/** The session and person that opened a stream, and the workspace whose changes the stream reports. */
interface Listener {
  readonly session: string
  readonly userId: string
  readonly accountId: string
}

/** The change streams that are open in this process. */
export class ChangeStreams {
  readonly #ctx: Context
  readonly #times: StreamTimes
  readonly #feed: ChangeFeed
  /** The open streams, the oldest first. */
  readonly #open = new Map<ChangeStream, Listener>()
  #isClosed = false

  constructor(ctx: Context, times: StreamTimes = STREAM_TIMES) {
    this.#ctx = ctx
    this.#times = times
    this.#feed = new ChangeFeed(ctx)
  }

  /**
   * Opens a stream for a member of the workspace. If the session or the person has reached the limit, the new stream
   * replaces their oldest stream, which may belong to a page that no longer exists. If the process has reached its
   * limit, the new stream replaces the oldest stream of the person with the most streams, so that nobody can keep
   * others out. Throws 429 if the workspace has reached its limit.
   */
  open({ place, session, slug }: { place: Place; session: Session; slug: string }): ChangeStream['source'] {
    if (this.#isClosed)
      throw new Problem('unavailable', 'The service is stopping. Try again in a few seconds.', { retryAfterSeconds: 1 })
    const listener = {
      session: session.secretHash.toString('hex'),
      userId: session.userId,
      accountId: place.accountId,
    }
    this.#makeRoom(listener)
    const stream = openChangeStream(this.#feed, {
      place,
      isSessionActive: () => isSessionActive(this.#ctx, { session, slug }),
      logger: this.#ctx.logger,
      times: this.#times,
    })
    this.#open.set(stream, listener)
    stream.source.once('close', () => this.#open.delete(stream))
    return stream.source
  }

  /** Ends all streams, and waits until the last query has finished. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const stream of this.#open.keys()) stream.end()
    await this.#feed.stopped()
  }

  #makeRoom({ session, userId, accountId }: Listener): void {
    const all = [...this.#open]
    const ofSession = all.filter(([, other]) => other.session === session)
    const ofUser = all.filter(([, other]) => other.userId === userId)
    const oldest =
      (ofSession.length >= SESSION_STREAMS_MAX ? ofSession[0] : undefined) ??
      (ofUser.length >= USER_STREAMS_MAX ? ofUser[0] : undefined)
    const others = all.filter((entry) => entry !== oldest)
    const ofAccount = others.filter(([, other]) => other.accountId === accountId)
    if (ofAccount.length >= ACCOUNT_STREAMS_MAX) {
      throw new Problem(
        'rate_limited',
        'Too many pages of this workspace are open. Close some of them and reload this page.',
        {
          code: 'rate_limit_exceeded',
          retryAfterSeconds: FULL_RETRY_SECONDS,
        },
      )
    }
    const ending = [oldest, others.length >= STREAMS_MAX ? oldestOfFullest(others) : undefined]
    for (const [stream] of ending.filter((entry) => entry !== undefined)) {
      this.#open.delete(stream)
      stream.giveWay()
    }
  }
}

/**
 * Returns the oldest stream of the person with the most streams. If several people have the same number, returns the
 * oldest of all their streams.
 */
function oldestOfFullest<Entry extends readonly [unknown, Listener]>(entries: readonly Entry[]): Entry | undefined {
  const byUser = [...Map.groupBy(entries, ([, { userId }]) => userId).values()]
  const most = Math.max(...byUser.map((own) => own.length))
  // The entries are in the order in which they were opened, so the first person found has the oldest stream.
  return byUser.find((own) => own.length === most)?.[0]
}
