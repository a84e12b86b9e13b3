import type { Logger } from './logger.ts'
import { waitForStep } from './shared-steps.ts'

export interface Loop {
  /** Waits for the current round to finish, and starts no further round. */
  stop(): Promise<void>
}

/** The wait doubles with each consecutive failure, up to this many intervals. */
const BACKOFF_INTERVALS_MAX = 20

/**
 * Runs `round` repeatedly. Each round starts about `intervalMs` after the previous one has ended: up to half of this
 * time earlier, so that the rounds of different loops begin together (`waitForStep`). If a round throws, the error is
 * logged and the next round waits longer.
 */
export function startLoop(
  { name, intervalMs, logger }: { name: string; intervalMs: number; logger: Logger },
  round: (signal: AbortSignal) => Promise<void>,
): Loop {
  const stopping = new AbortController()
  const { signal } = stopping

  const run = async (): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      try {
        await round(signal)
        failures = 0
      } catch (error) {
        failures += 1
        logger.warn({ err: error, loop: name, failures }, 'a round of background work failed')
      }
      const waitMs = intervalMs * Math.min(2 ** failures, BACKOFF_INTERVALS_MAX)
      await waitForStep(waitMs, signal)
    }
  }
  const done = run()

  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
