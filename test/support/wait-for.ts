import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 25
const WAIT_MS_MAX = 20_000

/** Looks again and again until there is something to see, and answers that. Null, undefined and false are nothing. */
export async function waitFor<Found>(
  what: string,
  look: () => Promise<Found | null | undefined | false> | Found | null | undefined | false,
  msMax = WAIT_MS_MAX,
): Promise<Found> {
  const deadline = AbortSignal.timeout(msMax)
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (deadline.aborted) throw new Error(`waited ${msMax} ms in vain: ${what}`)
    await delay(POLL_MS)
  }
}
