import type { Context } from '../../domain/context.ts'
import type { Place } from '../../domain/reports/changes/change.ts'
import { isSessionActive } from '../../domain/sessions/is-session-active.ts'
import type { Session } from '../../domain/sessions/session.ts'
import { Problem } from '../../values/problem.ts'
import { ChangeFeed } from './change-feed.ts'
import { openChangeStream, STREAM_TIMES, type ChangeStream, type StreamTimes } from './change-stream.ts'

/** A browser holds six connections to one host at the most, and needs one to work with. */
const SESSION_STREAMS_MAX = 5
const USER_STREAMS_MAX = 10
const ACCOUNT_STREAMS_MAX = 50
/** Each is a connection, and a place to look at every second. */
const STREAMS_MAX = 200
const FULL_RETRY_SECONDS = 30

/** Whose a stream is, and what it tells of. */
interface Listener {
  readonly session: string
  readonly userId: string
  readonly accountId: string
}

/** All streams of changes of this process. */
export class ChangeStreams {
  readonly #ctx: Context
  readonly #times: StreamTimes
  readonly #feed: ChangeFeed
  /** The oldest first. */
  readonly #open = new Map<ChangeStream, Listener>()
  #isClosed = false

  constructor(ctx: Context, times: StreamTimes = STREAM_TIMES) {
    this.#ctx = ctx
    this.#times = times
    this.#feed = new ChangeFeed(ctx)
  }

  /**
   * Opens a stream for whoever is signed in and belongs to the workspace. When a session or a person has as many as they
   * can have, it takes the place of the oldest one: that may be of a page that is long gone. When the process has, it takes the
   * place of the oldest one of whoever has the most, so that nobody keeps others out. 429 when the workspace has.
   */
  open({ place, session, slug }: { place: Place; session: Session; slug: string }): ChangeStream['source'] {
    if (this.#isClosed) throw new Problem('unavailable', 'The service is stopping.', { retryAfterSeconds: 1 })
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

  /** Ends all streams, and waits until nothing is under way any more. */
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
      throw new Problem('rate_limited', 'Too many pages are listening for changes.', {
        code: 'rate_limit_exceeded',
        retryAfterSeconds: FULL_RETRY_SECONDS,
      })
    }
    const ending = [oldest, others.length >= STREAMS_MAX ? oldestOfFullest(others) : undefined]
    for (const [stream] of ending.filter((entry) => entry !== undefined)) {
      this.#open.delete(stream)
      stream.giveWay()
    }
  }
}

/** Of the person with the most streams the oldest one; of several such persons, the one whose stream is the oldest. */
function oldestOfFullest<Entry extends readonly [unknown, Listener]>(entries: readonly Entry[]): Entry | undefined {
  const byUser = [...Map.groupBy(entries, ([, { userId }]) => userId).values()]
  const most = Math.max(...byUser.map((own) => own.length))
  // Whoever came first stands first, and so does their oldest stream.
  return byUser.find((own) => own.length === most)?.[0]
}
