import type { Payment } from '@bursar/server/src/console/contract/payments.ts'

export type FailureCode = NonNullable<Payment['failure_code']>

/** Why a payment failed, in a few words. */
export const FAILURE_REASONS: Readonly<Record<FailureCode, string>> = {
  enclave_refused: 'Rejected by the enclave',
  never_received: 'Never sent',
  reverted: 'Transaction reverted',
  transfer_missing: 'Transaction without the transfer',
  replaced: 'Replaced by another transaction',
  authorization_expired: 'Not collected in time',
  authorization_canceled: 'Signature canceled',
}

export function isFailureCode(text: string): text is FailureCode {
  return text in FAILURE_REASONS
}
