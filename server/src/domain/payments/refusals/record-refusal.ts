import { createId } from '../../../values/ids.ts'
import type { Refusal } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { PaymentRequest } from '../payment-request.ts'
import { insertRefusal } from './refusals-store.ts'

/**
 * Stores what was refused, and why. The write is deferred: the caller does not wait for it, and gets the same response even
 * if it fails.
 */
export function recordRefusal(
  ctx: Pick<Context, 'db' | 'clock'>,
  { request, refusal }: { request: PaymentRequest; refusal: Refusal },
): void {
  const now = ctx.clock.now()
  const { code, details = {} } = refusal
  const id = createId('refusal', now)
  ctx.db.deferWrite(insertRefusal({ ...request, id, code, details, createdAt: now }))
}
