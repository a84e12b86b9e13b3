import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'

/** The resolution of a `Date` header, which has whole seconds. We cannot detect a smaller difference of the clocks. */
const RESOLUTION_MS = 1_000
/** A difference of the clocks is logged if it is larger than this. */
const SKEW_LOGGED_MS = 2_000
/** A difference that lasts is logged again after this time. */
const LOG_INTERVAL_MS = 10 * 60_000

/**
 * Estimates the enclave's clock from the `Date` headers of its responses. The enclave uses its own clock to decide
 * whether a signed request has expired, so we convert every expiry to that clock.
 */
export function createEnclaveClock({ clock, logger }: { clock: Clock; logger: Logger }) {
  let skewMs = 0
  let loggedAt: Date | null = null

  /**
   * Updates the estimate from one response. Returns the enclave's time, rounded down to the second. Returns null if the
   * response has no valid `Date` header.
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
    const message = "this server's clock differs from the enclave's clock; check the time synchronization"
    logger.error({ skewMs }, message)
  }

  return {
    observe,
    /** Converts a time of our clock to the enclave's clock. */
    toEnclaveTime: (time: Date): Date => new Date(time.getTime() + skewMs),
    /** Returns the estimate of the enclave's time now. */
    now: (): Date => new Date(clock.now().getTime() + skewMs),
  }
}
