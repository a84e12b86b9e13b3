import { Readable } from 'node:stream'
import type { Place } from '../../domain/reports/changes/change.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChangeFeed } from './change-feed.ts'

export interface StreamTimes {
  /** So often something is sent, so that nobody on the way takes the connection for dead. */
  readonly heartbeatMs: number
  /** So often it is asked whether the visitor may still be told. */
  readonly checkMs: number
  /** Then it ends, and the browser comes back. */
  readonly lifetimeMs: number
}

export const STREAM_TIMES: StreamTimes = { heartbeatMs: 15_000, checkMs: 30_000, lifetimeMs: 10 * 60_000 }
/** After so long the browser comes back. */
const RETRY_MS = 3_000
/** After so long, when another page took its place: two pages must not drive each other out all the time. */
const RETRY_AFTER_GIVING_WAY_MS = 60_000
/** A reader who leaves so much unread is dropped. It is a hundred changes. */
const UNREAD_BYTES_MAX = 4_096

export interface ChangeStream {
  /** Its text, as an event stream (HTML, section 9.2.5). */
  readonly source: Readable
  /** Ends it at once. */
  end(): void
  /** Ends it at once; the browser stays away for a while. */
  giveWay(): void
}

/** Tells one browser that something changed, and which lists are concerned; never what: it reads that anew itself. */
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
      // Nothing can be told meanwhile either: it is asked again.
      logger.warn({ err: error }, 'a stream of changes could not be checked')
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

/** HTML, section 9.2.6. */
function retryIn(ms: number): string {
  return `retry: ${ms}\n\n`
}
