import type { BatchSize } from './batch-size.ts'
import { BatchRefusal } from './errors.ts'
import type { RpcCall } from './json-rpc.ts'

/**
 * A call that is made in every request that a batch is split into: what it returns shows what the machine knew that
 * answered the calls beside it.
 */
export type WitnessCall = { readonly call: RpcCall; readonly keep: (answer: unknown) => void }

/** Requests of one batch that are under way at the same time. */
const REQUESTS_AT_ONCE_MAX = 4

/**
 * Makes calls in as many requests as the node needs, and returns the results in the order of `calls`. A request that is
 * refused for its size is made again as smaller ones. Throws what `post` throws, also the refusal of a single call.
 */
export async function postSplit(
  post: (calls: readonly RpcCall[]) => Promise<unknown[]>,
  { calls, size, beside }: { calls: readonly RpcCall[]; size: BatchSize; beside: WitnessCall | null },
): Promise<unknown[]> {
  const results = Array.from<unknown>({ length: calls.length })
  const room = (): number => Math.max(1, beside === null ? size.max : size.max - 1)
  let next = 0
  const ended = new AbortController()

  async function postSome(start: number, end: number): Promise<void> {
    for (let at = start; at < end && !ended.signal.aborted;) {
      const some = calls.slice(at, Math.min(at + room(), end))
      const asked = beside === null ? some : [beside.call, ...some]
      try {
        const answers = await post(asked)
        size.recordAnswer(asked.length)
        if (beside !== null) beside.keep(answers.shift())
        for (const [index, answer] of answers.entries()) results[at + index] = answer
        at += some.length
      } catch (error) {
        if (!(error instanceof BatchRefusal) || some.length === 1) throw error
        size.recordRefusal(asked.length)
      }
    }
  }

  async function postOn(): Promise<void> {
    while (next < calls.length && !ended.signal.aborted) {
      const start = next
      next = Math.min(start + room(), calls.length)
      await postSome(start, next)
    }
  }

  const posters = Math.min(REQUESTS_AT_ONCE_MAX, Math.ceil(calls.length / room()))
  try {
    await Promise.all(Array.from({ length: posters }, postOn))
  } finally {
    ended.abort()
  }
  return results
}
