import { setTimeout as delay } from 'node:timers/promises'
import { readProcessMs } from './clock.ts'

/**
 * Waits, and never less than this time. A timer alone may end too early, because Node.js measures it from the start of
 * the current turn of the event loop.
 */
export async function waitAtLeast(milliseconds: number): Promise<void> {
  const end = readProcessMs() + milliseconds
  for (let left = milliseconds; left > 0; left = end - readProcessMs()) await delay(Math.ceil(left))
}
