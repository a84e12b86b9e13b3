import assert from 'node:assert/strict'
import type { PaymentOutcome } from '../../../server/src/domain/payments/create-payment.ts'
import type { Payment } from '../../../server/src/domain/payments/payment.ts'
import type { Refusal } from '../../../server/src/values/problem.ts'

export function expectPayment(outcome: PaymentOutcome, kind?: 'created' | 'replayed'): Payment {
  if (outcome.kind === 'refused') return assert.fail(`refused with ${outcome.refusal.code}`)
  if (kind !== undefined) assert.equal(outcome.kind, kind)
  return outcome.payment
}

export function expectRefusal(outcome: PaymentOutcome, code: Refusal['code']): Refusal {
  if (outcome.kind !== 'refused') return assert.fail(`${outcome.kind}, not refused with ${code}`)
  assert.equal(outcome.refusal.code, code)
  return outcome.refusal
}
