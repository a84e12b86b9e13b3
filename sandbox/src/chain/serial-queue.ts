export type Enqueue = <T>(job: () => Promise<T>) => Promise<T>

/** Runs jobs one after the other, in the order of their arrival. A job that fails fails for its caller only. */
export const serialQueue = (): Enqueue => {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = last.then(job)
    last = result.catch(() => undefined)
    return result
  }
}
