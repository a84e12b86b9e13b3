import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'

/** A `Date` header has whole seconds, so a smaller difference cannot be detected. */
const RESOLUTION_MS = 1_000
/** Above this difference, a message is logged. */
const SKEW_LOGGED_MS = 2_000
/** A lasting difference is logged again after this time. */
const LOG_INTERVAL_MS = 10 * 60_000

/**
 * Estimates the provider's clock from the `Date` headers of its responses. The provider decides by its own clock whether a
 * signed request has expired, so every expiry is expressed in that clock.
 */
export function createEnclaveClock({ clock, logger }: { clock: Clock; logger: Logger }) {
  let skewMs = 0
  let loggedAt: Date | null = null

  /**
   * Updates the estimate from one response. Returns the provider's time, which is at most one second in the past, or null
   * if the response has no usable `Date` header.
   */
  function observe(date: string | null, { sentAt, receivedAt }: { sentAt: Date; receivedAt: Date }): Date | null {
    const time = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(time)) return null
    const tripMs = receivedAt.getTime() - sentAt.getTime()
    const estimateMs = time + RESOLUTION_MS / 2 - (sentAt.getTime() + tripMs / 2)
    skewMs = Math.abs(estimateMs) <= RESOLUTION_MS + Math.max(tripMs, 0) / 2 ? 0 : Math.round(estimateMs)
    logSkew(receivedAt)
    return new Date(time)
  }

  function logSkew(now: Date): void {
    if (Math.abs(skewMs) <= SKEW_LOGGED_MS) {
      loggedAt = null
      return
    }
    if (loggedAt !== null && Math.abs(now.getTime() - loggedAt.getTime()) < LOG_INTERVAL_MS) return
    loggedAt = now
    const message = "this server's clock differs from the enclave provider's; check time synchronization"
    logger.error({ skewMs }, message)
  }

  return {
    observe,
    /** Expresses a time of our clock in the provider's clock. */
    toEnclaveTime: (time: Date): Date => new Date(time.getTime() + skewMs),
    /** The provider's time now, as far as it is known. */
    now: (): Date => new Date(clock.now().getTime() + skewMs),
  }
}
