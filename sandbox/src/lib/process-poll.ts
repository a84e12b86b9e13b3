import { setTimeout as delay } from 'node:timers/promises'

/** How long to wait before checking again whether a program has started or stopped. */
const PROCESS_POLL_MS = 10

/** Checks repeatedly until `condition` returns true. Returns false if it does not within `timeoutMs`. */
export const pollUntil = async (condition: () => boolean, timeoutMs: number): Promise<boolean> => {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() >= deadline) return false
    await delay(PROCESS_POLL_MS)
  }
  return true
}
