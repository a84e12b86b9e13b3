import type { Refusal } from '../../values/problem.ts'

/**
 * The codes with which the limits reject a payment request, in the order of the checks 8 to 19 (D18). A preview reports
 * the same codes (D55).
 */
export const ADMISSION_REFUSAL_CODES = [
  'agent_not_authorized',
  'agent_not_found',
  'wallet_not_found',
  'permission_not_found',
  'permission_expired',
  'contract_not_allowed',
  'recipient_not_allowed',
  'amount_too_large',
  'daily_cap_exceeded',
  'plan_cap_exceeded',
  'insufficient_balance',
  'insufficient_gas',
] as const

/** The codes with which the limits reject a purchase. A grant may allow transfers and not purchases (D67). */
export const PURCHASE_REFUSAL_CODES = [...ADMISSION_REFUSAL_CODES, 'purchases_not_allowed'] as const

/** Why a payment request is rejected, with the details of the code. */
export type AdmissionRefusal = Refusal<(typeof PURCHASE_REFUSAL_CODES)[number]>
