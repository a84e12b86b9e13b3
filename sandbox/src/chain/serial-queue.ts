export type Enqueue = <T>(job: () => Promise<T>) => Promise<T>

/** Runs jobs one after the other, in order of arrival. If a job fails, only its own caller gets the error. */
export const serialQueue = (): Enqueue => {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = last.then(job)
    last = result.catch(() => undefined)
    return result
  }
}
