import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { EnclaveClock } from './clock.ts'
import { ApiError, invalidData } from './errors.ts'
import { IDEMPOTENCY_WINDOW_MS } from './limits.ts'
import type { Answer } from './records.ts'
import type { AnswerKey, Store } from './store.ts'

/**
 * Stores the response so that a retry gets it again. Must be called inside the transaction that makes the request's
 * changes, so that the response and the changes are stored together or not at all.
 */
export type KeepAnswer = (body: unknown) => void

export interface OnceRequest {
  /** App, method and path. The same key with another scope is a different key. */
  readonly scope: string
  readonly key: string | null
  readonly body: unknown
}

/**
 * Executes a request once per key. For 24 hours, the same key with the same body gets the first response again. A
 * failure response is repeated too, unless its `ApiError.kept` is false. The same key with a different body gets 400.
 * While the first request is in progress, a second one waits for it.
 */
export function createIdempotency(store: Store, clock: EnclaveClock) {
  const underWay = new Map<string, Promise<unknown>>()

  return async function runOnce(request: OnceRequest, execute: (keep: KeepAnswer) => unknown): Promise<Answer> {
    const { key, scope } = request
    if (key === null) return { status: 200, body: await execute(() => undefined) }
    const lane = canonicalJson([scope, key])
    for (let first = underWay.get(lane); first !== undefined; first = underWay.get(lane)) {
      await first.catch(() => undefined)
    }
    const bodyHash = createHash('sha256')
      .update(canonicalJson(request.body ?? null))
      .digest('base64url')
    const known = store.findAnswer({ scope, key }, clock.nowMs() - IDEMPOTENCY_WINDOW_MS)
    if (known !== null) {
      if (known.bodyHash === bodyHash) return { status: known.status, body: known.body }
      throw invalidData(
        'Idempotency key was reused for a request with a new body. Please create a new idempotency key for the request.',
      )
    }
    const run = executeAndKeep({ scope, key }, bodyHash, execute)
    underWay.set(lane, run)
    try {
      return { status: 200, body: await run }
    } finally {
      underWay.delete(lane)
    }
  }

  async function executeAndKeep(
    answerKey: AnswerKey,
    bodyHash: string,
    execute: (keep: KeepAnswer) => unknown,
  ): Promise<unknown> {
    const keep = (status: number, body: unknown): void =>
      store.putAnswer(answerKey, { bodyHash, status, body }, clock.nowMs())
    try {
      return await execute((body) => keep(200, body))
    } catch (error) {
      if (error instanceof ApiError && error.kept) keep(error.status, error.body())
      throw error
    }
  }
}
