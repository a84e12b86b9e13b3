import { Readable } from 'node:stream'
import type { Place } from '../../domain/reports/changes/change.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChangeFeed } from './change-feed.ts'

export interface StreamTimes {
  /** How often we send a comment, so that no proxy closes the connection because it is idle. */
  readonly heartbeatMs: number
  /** How often we check whether the person is still signed in and still a member. */
  readonly checkMs: number
  /** After this time the stream ends, and the browser reconnects. */
  readonly lifetimeMs: number
}

export const STREAM_TIMES: StreamTimes = { heartbeatMs: 15_000, checkMs: 30_000, lifetimeMs: 10 * 60_000 }
/** How long the browser waits before it reconnects. */
const RETRY_MS = 3_000
/**
 * How long the browser waits before it reconnects if a newer stream has replaced its stream. The time is long, so that
 * two pages do not keep replacing each other's streams.
 */
const RETRY_AFTER_GIVING_WAY_MS = 60_000
/** A client with this much unread data, about a hundred changes, is disconnected. */
const UNREAD_BYTES_MAX = 4_096

export interface ChangeStream {
  /** The stream of server-sent events (HTML, section 9.2.5). */
  readonly source: Readable
  /** Ends the stream at once. */
  end(): void
  /** Ends the stream at once, because a newer stream replaces it. Makes the browser wait before it reconnects. */
  giveWay(): void
}

/**
 * Opens a stream that tells one browser that something has changed, and in which lists. It never sends the changed
 * data; the page requests that from the other endpoints.
 */
export function openChangeStream(
  feed: ChangeFeed,
  {
    place,
    isSessionActive,
    logger,
    times = STREAM_TIMES,
  }: { place: Place; isSessionActive: () => Promise<boolean>; logger: Logger; times?: StreamTimes },
): ChangeStream {
  const endings: (() => void)[] = []
  const release = (): void => {
    for (const ending of endings.splice(0)) ending()
  }
  const source = new Readable({
    highWaterMark: UNREAD_BYTES_MAX,
    read: () => undefined,
    destroy: (error, done) => {
      release()
      done(error)
    },
  })
  const send = (text: string): void => {
    if (!source.destroyed && !source.push(text)) source.destroy()
  }
  let isEnded = false
  const end = (): void => {
    if (isEnded) return
    isEnded = true
    release()
    if (source.readableLength > 0) source.destroy()
    else source.push(null)
  }
  const giveWay = (): void => {
    if (!isEnded && source.readableLength === 0) send(retryIn(RETRY_AFTER_GIVING_WAY_MS))
    end()
  }
  const check = async (): Promise<void> => {
    try {
      if (!(await isSessionActive())) end()
    } catch (error) {
      // The stream stays open although the check failed. While the database is unreachable, no change can be sent
      // anyway.
      logger.warn({ err: error }, 'the session of a change stream could not be checked')
    }
  }

  send(retryIn(RETRY_MS))
  endings.push(
    feed.listen(place, {
      ready: () => send('event: ready\ndata: {}\n\n'),
      change: (kinds) => send(`event: change\ndata: ${JSON.stringify({ kinds })}\n\n`),
    }),
  )
  const heartbeat = setInterval(() => send(': still here\n\n'), times.heartbeatMs)
  const checking = setInterval(() => void check(), times.checkMs)
  const lifetime = setTimeout(end, times.lifetimeMs)
  endings.push(() => {
    clearInterval(heartbeat)
    clearInterval(checking)
    clearTimeout(lifetime)
  })
  return { source, end, giveWay }
}

/** Sets the browser's reconnection time (HTML, section 9.2.6). */
function retryIn(ms: number): string {
  return `retry: ${ms}\n\n`
}
