import { setTimeout as delay } from 'node:timers/promises'
import { FairPlaces } from '../../lib/fair-places.ts'

/** The provider publishes no limit. This is far more than payments need, but few enough not to look like an attack. */
const REQUESTS_PER_SECOND_MAX = 40
const WINDOW_MS = 1_000
/** The longest pause. A longer `Retry-After` is shortened to this. */
const PAUSE_MS_MAX = 60_000
/** How many requests may wait. Any further request is rejected at once. */
const WAITING_MAX = 2_000

/**
 * Limits how often this process looks up transactions at the enclave: at most `perSecond` times in any second, and not
 * while the enclave asks us to wait. Requests that send a transfer are not limited, because a caller waits for each of
 * them.
 */
export function createRequestBudget({ perSecond = REQUESTS_PER_SECOND_MAX }: { perSecond?: number } = {}) {
  /** Each request takes a place for `WINDOW_MS`. */
  const places = new FairPlaces({ placesMax: perSecond, waitingMax: WAITING_MAX, waitMsMax: null })
  let pause: Promise<void> | null = null

  /**
   * Resolves when a request may be sent.
   * @throws the signal's reason if the signal aborts first; Error if too many requests are waiting.
   */
  async function take(signal: AbortSignal): Promise<void> {
    const place = await places.take(null, { signal })
    if (place === null) throw new Error('too many look-ups at the enclave are waiting')
    try {
      for (let current = pause; current !== null; current = pause) await abortable(current, signal)
    } catch (error) {
      place.leave()
      throw error
    }
    setTimeout(() => place.leave(), WINDOW_MS).unref()
  }

  /** Lets no request through for this long, because the enclave sent `Retry-After`. Does not shorten a longer pause. */
  function pauseFor(ms: number): void {
    const before = pause
    const current = Promise.all([before, delay(Math.min(Math.max(ms, 0), PAUSE_MS_MAX), undefined, { ref: false })])
    pause = current.then(() => {
      if (pause === ended) pause = null
    })
    const ended = pause
  }

  return { take, pauseFor }
}

async function abortable(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
