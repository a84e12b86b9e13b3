import { setTimeout as sleep } from 'node:timers/promises'

const POLL_INTERVAL_MS = 25
const WAIT_MS_MAX = 20_000

/** Waits until the condition holds; throws when it never does within a generous time. */
export async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for: ${condition.toString()}`)
    await sleep(POLL_INTERVAL_MS)
  }
}
