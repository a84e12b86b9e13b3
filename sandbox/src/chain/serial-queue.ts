export type Enqueue = <T>(job: () => Promise<T>) => Promise<T>

/** Runs jobs one after the other, in order of arrival. A job that fails rejects only for its own caller. */
export const serialQueue = (): Enqueue => {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = last.then(job)
    last = result.catch(() => undefined)
    return result
  }
}
