import { setTimeout as delay } from 'node:timers/promises'

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
  let free = perSecond
  let pause: Promise<void> | null = null
  const waiting: (() => void)[] = []

  /**
   * Resolves when a request may be sent.
   * @throws the signal's reason if the signal aborts first; Error if too many requests are waiting.
   */
  async function take(signal: AbortSignal): Promise<void> {
    while (true) {
      signal.throwIfAborted()
      if (pause !== null) {
        await abortable(pause, signal)
      } else if (free > 0) {
        free -= 1
        setTimeout(release, WINDOW_MS).unref()
        return
      } else {
        await waitForTurn(signal)
      }
    }
  }

  function release(): void {
    free += 1
    waiting.shift()?.()
  }

  async function waitForTurn(signal: AbortSignal): Promise<void> {
    if (waiting.length >= WAITING_MAX) throw new Error('too many look-ups at the enclave are waiting')
    const turn = Promise.withResolvers<void>()
    waiting.push(turn.resolve)
    try {
      await abortable(turn.promise, signal)
    } catch (error) {
      const position = waiting.indexOf(turn.resolve)
      // If this request is no longer in the queue, its turn came when the signal aborted. The next request gets this
      // turn.
      if (position === -1) waiting.shift()?.()
      else waiting.splice(position, 1)
      throw error
    }
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
