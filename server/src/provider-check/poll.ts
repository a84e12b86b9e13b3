import { setTimeout as delay } from 'node:timers/promises'

/** Looks again and again until something is found, or null when the time is over. */
export async function poll<Found>(
  look: () => Promise<Found | null>,
  { intervalMs, timeoutMs }: { intervalMs: number; timeoutMs: number },
): Promise<Found | null> {
  const deadline = AbortSignal.timeout(timeoutMs)
  for (;;) {
    const found = await look()
    if (found !== null || deadline.aborted) return found
    await delay(intervalMs)
  }
}
