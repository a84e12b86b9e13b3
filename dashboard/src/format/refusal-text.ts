import type { PURCHASE_REFUSAL_CODES } from '@bursar/server/src/domain/payment-requests/admission-refusal.ts'
import { REFUSAL_REASONS } from '@bursar/server/src/values/refusal-reasons.ts'

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

/** The compiler checks that no code is missing. */
const REASONS: Readonly<Record<(typeof PURCHASE_REFUSAL_CODES)[number] | 'storage_full', string>> = REFUSAL_REASONS

/**
 * Returns the reason in lower case, for use after “Rejected:”. For an unknown code, returns the message of the
 * response.
 */
export function formatReason({ code, message, details: { reason } }: RefusalText): string {
  const ofGrant = code === 'permission_not_found' && typeof reason === 'string' ? GRANT_REASONS[reason] : undefined
  const reasons: Readonly<Record<string, string | undefined>> = REASONS
  return ofGrant ?? reasons[code] ?? message
}

/** Like `formatReason`, but with a capital first letter. */
export function formatRefusal(refusal: RefusalText): string {
  return capitalize(formatReason(refusal))
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
