/** Runs at most `workMax` jobs at a time. Further jobs wait in order of arrival. */
export function limitConcurrency(workMax: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= workMax) await new Promise<void>((resolve) => void waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The next waiting job starts in place of this one, so the number of running jobs does not change.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
