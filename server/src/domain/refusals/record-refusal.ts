import { createId } from '../../values/ids.ts'
import type { Refusal } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { RefusedRequest } from './refusal.ts'
import { insertRefusal } from './refusals-store.ts'

/**
 * Stores a refused request with the reason for the refusal. The write is deferred: the caller does not wait for it, and
 * the caller's response stays the same even if the write fails.
 */
export function recordRefusal(
  ctx: Pick<Context, 'deferredWrites' | 'clock'>,
  { request, refusal }: { request: RefusedRequest; refusal: Refusal },
): void {
  const now = ctx.clock.now()
  const { code, details = {} } = refusal
  const id = createId('refusal', now)
  ctx.deferredWrites.add(insertRefusal({ ...request, id, code, details, createdAt: now }))
}
