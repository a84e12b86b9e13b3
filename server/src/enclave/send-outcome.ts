/** What a response without success means for one attempt to send a transfer (D24). */
export type SendOutcome =
  /** The provider's policy or signature check rejected this very transfer. Trying again would change nothing. */
  | 'refused'
  /** The provider certainly did not send it, for a reason on our side or the provider's. It can be retried. */
  | 'not_sent'
  /** The provider may have sent it, or may still send it. */
  | 'unknown'

export type SendFailure = {
  /** HTTP status, or null if there was no response. */
  readonly status: number | null
  /** The provider's error code, or our own if the response has none. */
  readonly code: string
  /** The provider's message. */
  readonly reason: string
  /** Whether the body is the provider's own error, and not, for example, a proxy's error page. */
  readonly isProviderError: boolean
}

/** The provider's documented codes for requests that it rejects before it signs anything, with status 400. */
const NOT_SENT_CODES: ReadonlySet<string> = new Set([
  'invalid_data',
  'invalid_request',
  'invalid_policy_format',
  'invalid_state',
  'insufficient_funds',
  'feature_not_enabled',
  'compliance_blocked',
  'missing_or_invalid_privy_app_id',
  'missing_or_invalid_token',
  'missing_or_empty_authorization_header',
  'request_expired',
  'too_many_requests',
])

/** With these statuses the provider did nothing, whatever the code. A proxy can also return them, see `isProviderError`. */
const NOT_SENT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 413, 414, 415, 422, 429, 431])

/**
 * Decides the outcome of an attempt from the provider's response. In case of doubt it is `unknown`. A wrong `unknown` costs
 * a wait; a wrong `not_sent` could cost a second transfer.
 *
 * A 4xx counts only if its body is the provider's own error, because a proxy can return any status after the provider has
 * acted.
 */
export function decideSendOutcome({ status, code, reason, isProviderError }: SendFailure): SendOutcome {
  if (status === null || status < 400 || status >= 500 || !isProviderError) return 'unknown'
  // The provider knows an earlier attempt of the same payment, so the payment may have been sent.
  if (isKnownAlready(code, reason)) return 'unknown'
  if (code === 'policy_violation') return 'refused'
  if (status === 401 && isSignatureRejected(reason)) return 'refused'
  // The broadcast failed after signing. The provider calls that "safe to retry", but a node may have accepted it.
  if (code.startsWith('transaction_')) return 'unknown'
  if (NOT_SENT_STATUSES.has(status)) return 'not_sent'
  if (status === 400 && (NOT_SENT_CODES.has(code) || isWithoutSponsorship(reason))) return 'not_sent'
  return 'unknown'
}

/** Returns whether the reference id exists already, or the idempotency key was used with another body. */
function isKnownAlready(code: string, reason: string): boolean {
  return (
    code === 'resource_already_exists' ||
    code === 'resource_conflict' ||
    /reference_id.*\b(unique|already|exists|duplicate|taken|in use|used)\b/i.test(reason) ||
    /idempotency key was reused/i.test(reason)
  )
}

/** A wrong signature shows only in the provider's message. The code is missing, or that of any invalid data. */
function isSignatureRejected(reason: string): boolean {
  if (/\brequest has expired\b/i.test(reason)) return false
  return /no valid authorization signatures|not enough valid authorization signatures|number of signatures/i.test(
    reason,
  )
}

function isWithoutSponsorship(reason: string): boolean {
  return /gas sponsorship is not enabled|insufficient gas credits/i.test(reason)
}
