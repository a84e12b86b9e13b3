import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 25
const WAIT_MS_MAX = 20_000

/**
 * Calls a function repeatedly until it returns a value other than null, undefined or false, and returns this value.
 *
 * @throws Error with the name of the condition, if it takes longer than `msMax`.
 */
export async function waitFor<Found>(
  what: string,
  look: () => Promise<Found | null | undefined | false> | Found | null | undefined | false,
  msMax = WAIT_MS_MAX,
): Promise<Found> {
  const deadlineMs = performance.now() + msMax
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadlineMs) throw new Error(`waited ${msMax} ms in vain: ${what}`)
    await delay(POLL_MS)
  }
}
