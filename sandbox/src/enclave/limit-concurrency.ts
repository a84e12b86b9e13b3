/** Runs at most `workMax` jobs at a time. The others wait in order of arrival. */
export function limitConcurrency(workMax: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= workMax) await new Promise<void>((resolve) => void waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The next waiting job takes this one's place.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
