/** Wakes one waiter. A ring that nobody waits for is heard by the next wait. */
export interface Wakeup {
  wake(): void
  /** Until it rings, but not longer than this. */
  wait(msMax: number): Promise<void>
}

export function createWakeup(): Wakeup {
  let isPending = false
  let resume: (() => void) | null = null
  return {
    wake() {
      isPending = true
      resume?.()
    },
    async wait(msMax) {
      if (!isPending) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, msMax)
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      resume = null
      isPending = false
    },
  }
}
