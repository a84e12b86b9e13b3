/** Wakes one waiter. A ring that nobody waits for is heard by the next wait. */
export interface Bell {
  ring(): void
  /** Until it rings, but not longer than this. */
  wait(msMax: number): Promise<void>
}

export function createBell(): Bell {
  let hasRung = false
  let wake: (() => void) | null = null
  return {
    ring() {
      hasRung = true
      wake?.()
    },
    async wait(msMax) {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, msMax)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      wake = null
      hasRung = false
    },
  }
}
