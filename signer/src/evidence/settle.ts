/**
 * Waits for all of these, which run at the same time. If several fail, throws the error of the first in the list, so that
 * the same file always gets the same error.
 */
export async function settle<Value>(promises: readonly Promise<Value>[]): Promise<readonly Value[]> {
  const results = await Promise.allSettled(promises)
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
