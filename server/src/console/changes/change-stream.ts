import { Readable } from 'node:stream'
import type { Place } from '../../domain/reports/changes/change.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChangeFeed } from './change-feed.ts'

export interface StreamTimes {
  /** How often a comment is sent, so that no proxy closes the connection as idle. */
  readonly heartbeatMs: number
  /** How often the person's session and membership are checked. */
  readonly checkMs: number
  /** After this time the stream ends, and the browser reconnects. */
  readonly lifetimeMs: number
}

export const STREAM_TIMES: StreamTimes = { heartbeatMs: 15_000, checkMs: 30_000, lifetimeMs: 10 * 60_000 }
/** How long the browser waits before it reconnects. */
const RETRY_MS = 3_000
/** How long it waits if a newer stream replaced this one, so that two pages do not replace each other all the time. */
const RETRY_AFTER_GIVING_WAY_MS = 60_000
/** A client that leaves this much unread is disconnected. It is about a hundred changes. */
const UNREAD_BYTES_MAX = 4_096

export interface ChangeStream {
  /** The text of the event stream (HTML, section 9.2.5). */
  readonly source: Readable
  /** Ends the stream at once. */
  end(): void
  /** Ends the stream at once, and tells the browser to reconnect later. */
  giveWay(): void
}

/** Tells one browser that something has changed, and in which lists. It never sends data: the page reads that again itself. */
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
      // The stream stays open: while the database is unreachable, no change can be sent either.
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
