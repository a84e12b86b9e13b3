import type { AdaptiveSize } from './adaptive-size.ts'
import { BatchRefusal } from './errors.ts'
import type { RpcCall } from './json-rpc.ts'

/**
 * A call that is added to every request of a split batch. Different machines may respond to the requests, and the
 * result of this call shows which blocks each machine has.
 */
export type WitnessCall = { readonly call: RpcCall; readonly keep: (result: unknown) => void }

/** How many requests of one split batch are sent at the same time. */
const REQUESTS_AT_ONCE_MAX = 4

/**
 * Makes calls in as many requests as necessary, and returns the results in the order of `calls`. If the node rejects a
 * request because of its size, repeats it as several smaller requests. Throws every other error of `post`, and also the
 * rejection of a request that contains only one of the calls.
 */
export async function postSplit(
  post: (calls: readonly RpcCall[]) => Promise<unknown[]>,
  { calls, size, witness }: { calls: readonly RpcCall[]; size: AdaptiveSize; witness: WitnessCall | null },
): Promise<unknown[]> {
  const results = Array.from<unknown>({ length: calls.length })
  const room = (): number => Math.max(1, witness === null ? size.max : size.max - 1)
  let next = 0
  const ended = new AbortController()

  async function postSome(start: number, end: number): Promise<void> {
    for (let at = start; at < end && !ended.signal.aborted;) {
      const some = calls.slice(at, Math.min(at + room(), end))
      const sent = witness === null ? some : [witness.call, ...some]
      try {
        const returned = await post(sent)
        size.recordAnswer(sent.length)
        if (witness !== null) witness.keep(returned.shift())
        for (const [index, result] of returned.entries()) results[at + index] = result
        at += some.length
      } catch (error) {
        if (!(error instanceof BatchRefusal) || some.length === 1) throw error
        size.recordRefusal(sent.length)
      }
    }
  }

  async function postRemaining(): Promise<void> {
    while (next < calls.length && !ended.signal.aborted) {
      const start = next
      next = Math.min(start + room(), calls.length)
      await postSome(start, next)
    }
  }

  const workers = Math.min(REQUESTS_AT_ONCE_MAX, Math.ceil(calls.length / room()))
  try {
    await Promise.all(Array.from({ length: workers }, postRemaining))
  } finally {
    ended.abort()
  }
  return results
}
