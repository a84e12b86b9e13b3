import { setTimeout as delay } from 'node:timers/promises'

/** Calls `attempt` until it finds something. Returns null after the time limit. */
export async function poll<Found>(
  attempt: () => Promise<Found | null>,
  { intervalMs, timeoutMs }: { intervalMs: number; timeoutMs: number },
): Promise<Found | null> {
  const deadline = AbortSignal.timeout(timeoutMs)
  for (;;) {
    const found = await attempt()
    if (found !== null || deadline.aborted) return found
    await delay(intervalMs)
  }
}
