/**
 * Lets one caller sleep until another caller wakes it. If nobody is waiting when `wake` is called, the next wait ends
 * at once.
 */
export interface Wakeup {
  wake(): void
  /** Waits until `wake` is called, but no longer than `msMax`. */
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
