import { CAP_WINDOW_MS, windowStart } from '../grants/spent-window.ts'
import type { Context } from '../context.ts'
import { findMissingGrantReason } from '../grants/missing-grant-store.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'
import { findReleasingPayment } from './admission-store.ts'
import type { Refused } from './decide-admission.ts'
import type { PaymentRequest } from './payment-request.ts'

/**
 * Completes a refusal: why there is no active grant, or when the amount will fit into the 24-hour limit (D18a). Only
 * these two refusals cost one more read. It takes no lock, because nothing depends on it.
 */
export async function findRefusalDetails(
  { db }: Pick<Context, 'db'>,
  request: PaymentRequest,
  { refusal, now, excessMicro }: Refused,
): Promise<AdmissionRefusal> {
  if (refusal.code === 'permission_not_found') {
    return { code: refusal.code, details: { reason: await db.read(findMissingGrantReason(request)) } }
  }
  if (refusal.code !== 'daily_cap_exceeded') return refusal
  const releasing = excessMicro === null ? null : findReleasingPayment(request, windowStart(now), excessMicro)
  const releasedAt = releasing === null ? null : await db.read(releasing)
  const resetsAt = releasedAt === null ? null : new Date(releasedAt.getTime() + CAP_WINDOW_MS).toISOString()
  return { code: refusal.code, details: { ...refusal.details, resets_at: resetsAt } }
}
