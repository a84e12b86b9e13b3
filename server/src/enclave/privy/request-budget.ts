import { setTimeout as delay } from 'node:timers/promises'
import type { FairPlaces } from '../../lib/fair-places.ts'

const WINDOW_MS = 1_000
/** The longest pause. A longer `Retry-After` is shortened to this. */
const PAUSE_MS_MAX = 60_000

/**
 * Limits how often this process looks up transactions at the enclave: in any second as often as there are places, and
 * not while the enclave asks us to wait. Workspaces take turns. Requests that send a transfer are not limited, because a caller waits for each of
 * them.
 */
export function createRequestBudget(places: FairPlaces) {
  let pause: Promise<void> | null = null

  /**
   * Resolves when a request of the workspace may be sent. It keeps its place for `WINDOW_MS`.
   * @throws the signal's reason if the signal aborts first; Error if too many requests are waiting.
   */
  async function take(workspaceId: string, signal: AbortSignal): Promise<void> {
    const place = await places.take(workspaceId, { signal })
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
