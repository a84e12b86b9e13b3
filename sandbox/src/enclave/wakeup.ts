import { setTimeout as sleep } from 'node:timers/promises'

export type Wakeup = ReturnType<typeof createWakeup>

/** Lets one loop wait for some time. Other code can wake the loop earlier. */
export function createWakeup() {
  let waiting = new AbortController()
  return {
    wake: (): void => waiting.abort(),
    async wait(waitMs: number, signal: AbortSignal): Promise<void> {
      waiting = new AbortController()
      const ended = AbortSignal.any([waiting.signal, signal])
      await sleep(waitMs, undefined, { signal: ended }).catch(() => undefined)
    },
  }
}
