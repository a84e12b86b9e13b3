import { setTimeout as delay } from 'node:timers/promises'
import { PROCESS_POLL_MS } from './limit.ts'

/** Checks repeatedly until `condition` returns true. Returns false if it does not within `timeoutMs`. */
export const pollUntil = async (condition: () => boolean, timeoutMs: number): Promise<boolean> => {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() >= deadline) return false
    await delay(PROCESS_POLL_MS)
  }
  return true
}
