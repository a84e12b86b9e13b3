import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'

/** A `Date` header has whole seconds: a smaller difference cannot be told from none. */
const RESOLUTION_MS = 1_000
/** From this difference on, the operator is told. */
const SKEW_TOLD_MS = 2_000
/** A difference that stays is told again after this time. */
const TOLD_AGAIN_MS = 10 * 60_000

/**
 * The provider's clock, as the `Date` headers of its responses show it. The provider judges by its own clock whether a
 * signed request has expired, so every expiry is expressed in that clock.
 */
export function createEnclaveClock({ clock, logger }: { clock: Clock; logger: Logger }) {
  let skewMs = 0
  let toldAt: Date | null = null

  /**
   * Learns from one response. Returns the provider's time, which is at most one second in the past, or null when the
   * response has no usable `Date` header.
   */
  function observe(date: string | null, { sentAt, receivedAt }: { sentAt: Date; receivedAt: Date }): Date | null {
    const time = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(time)) return null
    const tripMs = receivedAt.getTime() - sentAt.getTime()
    const estimateMs = time + RESOLUTION_MS / 2 - (sentAt.getTime() + tripMs / 2)
    skewMs = Math.abs(estimateMs) <= RESOLUTION_MS + Math.max(tripMs, 0) / 2 ? 0 : Math.round(estimateMs)
    tell(receivedAt)
    return new Date(time)
  }

  function tell(now: Date): void {
    if (Math.abs(skewMs) <= SKEW_TOLD_MS) {
      toldAt = null
      return
    }
    if (toldAt !== null && Math.abs(now.getTime() - toldAt.getTime()) < TOLD_AGAIN_MS) return
    toldAt = now
    const message = "this server's clock differs from the enclave provider's: check time synchronization"
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
