/** What a response other than success says about one attempt to send a transfer (D24). */
export type SendOutcome =
  /** The provider's policy or signature check rejected this very transfer. Trying again would change nothing. */
  | 'refused'
  /** The provider certainly did not send it, for a reason that lies with us or with the provider. It can be retried. */
  | 'not_sent'
  /** The provider may have sent it, or may still send it. */
  | 'unknown'

export type SendFailure = {
  /** HTTP status, or null when there was no response. */
  readonly status: number | null
  /** The provider's error code, or a word of ours where the response has none. */
  readonly code: string
  /** The provider's sentence. */
  readonly reason: string
  /** Whether the body is an error of the provider's, and not, say, the page of a proxy. */
  readonly isProviderError: boolean
}

/** Rejected before anything was signed: the provider's documented codes, with a status of 400. */
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

/** With these statuses the provider did nothing, whatever the code. A proxy can also produce them: see `isProviderError`. */
const NOT_SENT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 413, 414, 415, 422, 429, 431])

/**
 * Decides the outcome of an attempt from the provider's response. When in doubt it is `unknown`: that costs a wait, and
 * the other mistake costs a second transfer.
 *
 * A 4xx counts only if its body is the provider's own error, because a proxy can produce any status after the provider
 * has acted.
 */
export function decideSendOutcome({ status, code, reason, isProviderError }: SendFailure): SendOutcome {
  if (status === null || status < 400 || status >= 500 || !isProviderError) return 'unknown'
  // An earlier attempt of the same payment is known there, so the payment may have been sent.
  if (isKnownAlready(code, reason)) return 'unknown'
  if (code === 'policy_violation') return 'refused'
  if (status === 401 && isSignatureRejected(reason)) return 'refused'
  // Broadcasting failed after signing: "safe to retry", but no proof that no node took it.
  if (code.startsWith('transaction_')) return 'unknown'
  if (NOT_SENT_STATUSES.has(status)) return 'not_sent'
  if (status === 400 && (NOT_SENT_CODES.has(code) || isWithoutSponsorship(reason))) return 'not_sent'
  return 'unknown'
}

/** The reference id is taken, or the idempotency key was used with another body. */
function isKnownAlready(code: string, reason: string): boolean {
  return (
    code === 'resource_already_exists' ||
    code === 'resource_conflict' ||
    /reference_id.*\b(unique|already|exists|duplicate|taken|in use|used)\b/i.test(reason) ||
    /idempotency key was reused/i.test(reason)
  )
}

/** The provider tells a wrong signature by its sentence alone; the code is missing or that of any invalid data. */
function isSignatureRejected(reason: string): boolean {
  if (/\brequest has expired\b/i.test(reason)) return false
  return /no valid authorization signatures|not enough valid authorization signatures|number of signatures/i.test(
    reason,
  )
}

function isWithoutSponsorship(reason: string): boolean {
  return /gas sponsorship is not enabled|insufficient gas credits/i.test(reason)
}
