import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS_MIN = 25
const POLL_MS_MAX = 100
/** A poll comes after this share of the time that has passed. So a long wait takes few polls, and ends hardly later. */
const POLL_SHARE = 0.1
/** Long enough for a machine on which all tests run at once. A condition that holds ends the wait at once. */
const WAIT_MS_MAX = 60_000

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
  const startMs = performance.now()
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    const waitedMs = performance.now() - startMs
    if (waitedMs > msMax) throw new Error(`waited ${msMax} ms in vain: ${what}`)
    await delay(Math.min(Math.max(waitedMs * POLL_SHARE, POLL_MS_MIN), POLL_MS_MAX))
  }
}
