import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from './logger.ts'

export interface Loop {
  /** Lets the round that is running finish, and starts no other. */
  stop(): Promise<void>
}

/** Waiting times grow with failures in a row, up to this many intervals. */
const BACKOFF_INTERVALS_MAX = 20

/** Runs `round` again and again, `intervalMs` after the last one ended. A round that throws is logged and tried again later. */
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
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
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
