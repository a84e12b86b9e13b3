import type { PURCHASE_REFUSAL_CODES } from '@bursar/server/src/domain/payment-requests/admission-refusal.ts'

/** What a rejected payment request has of the response to the agent. */
interface RefusalText {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Why there was no active grant. */
const GRANT_REASONS: Readonly<Record<string, string>> = {
  none: 'no grant on the wallet',
  pending: 'the grant was not signed yet',
  suspended: 'the grant was suspended',
  revoked: 'the grant was revoked',
}

/** Why a payment request was rejected, by its error code. The compiler checks that no code is missing. */
export const REFUSAL_REASONS: Readonly<Record<(typeof PURCHASE_REFUSAL_CODES)[number] | 'storage_full', string>> = {
  agent_not_authorized: 'the credential may not pay as this agent',
  agent_not_found: 'unknown agent',
  wallet_not_found: 'unknown wallet',
  permission_not_found: 'no active grant',
  permission_expired: 'the grant has expired',
  purchases_not_allowed: 'the grant does not allow purchases',
  contract_not_allowed: 'USDC contract not allowed',
  recipient_not_allowed: 'recipient not allowed',
  amount_too_large: 'over the per-payment limit',
  daily_cap_exceeded: 'over the 24-hour limit',
  plan_cap_exceeded: 'the plan’s monthly payments are used up',
  insufficient_balance: 'not enough USDC in the wallet',
  storage_full: 'no room to keep the seller’s response',
  insufficient_gas: 'not enough native coin for gas in the wallet',
}

/**
 * Returns the reason in lower case, for use after “Rejected:”. For an unknown code, returns the message of the
 * response.
 */
export function formatReason({ code, message, details: { reason } }: RefusalText): string {
  const ofGrant = code === 'permission_not_found' && typeof reason === 'string' ? GRANT_REASONS[reason] : undefined
  const reasons: Readonly<Record<string, string | undefined>> = REFUSAL_REASONS
  return ofGrant ?? reasons[code] ?? message
}

/** Like `formatReason`, but with a capital first letter. */
export function formatRefusal(refusal: RefusalText): string {
  return capitalize(formatReason(refusal))
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
