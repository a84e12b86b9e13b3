import assert from 'node:assert/strict'
import type { AdmissionRefusal } from '../../../server/src/domain/payment-requests/admission-refusal.ts'
import type { PaymentOutcome } from '../../../server/src/domain/payment-requests/create-payment.ts'
import type { Payment } from '../../../server/src/domain/payments/payment.ts'

export function expectPayment(outcome: PaymentOutcome, kind?: 'created' | 'replayed'): Payment {
  if (outcome.kind === 'refused') return assert.fail(`refused with ${outcome.refusal.code}`)
  if (kind !== undefined) assert.equal(outcome.kind, kind)
  return outcome.payment
}

export function expectRefusal<Code extends AdmissionRefusal['code']>(
  outcome: PaymentOutcome,
  code: Code,
): Extract<AdmissionRefusal, { readonly code: Code }> {
  if (outcome.kind !== 'refused') return assert.fail(`${outcome.kind}, not refused with ${code}`)
  const { refusal } = outcome
  assert.ok(hasCode(refusal, code), `refused with ${refusal.code}`)
  return refusal
}

function hasCode<Code extends AdmissionRefusal['code']>(
  refusal: AdmissionRefusal,
  code: Code,
): refusal is Extract<AdmissionRefusal, { readonly code: Code }> {
  return refusal.code === code
}
