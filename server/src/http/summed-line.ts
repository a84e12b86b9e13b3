const INTERVAL_MS = 1_000

/**
 * Returns a function to call for each request that is rejected because there are too many. `write` writes one line for
 * all of a second, because a line for each would add to the overload. Its second argument is the id of
 * the last of these requests.
 */
export function createSummedLine(write: (count: number, example: string) => void): (requestId: string) => void {
  let count = 0
  let last = ''
  return (requestId) => {
    last = requestId
    count += 1
    if (count > 1) return
    setTimeout(() => {
      write(count, last)
      count = 0
    }, INTERVAL_MS).unref()
  }
}
