/** What a failed response means for one attempt to send a transfer (D24). */
export type SendOutcome =
  /** The enclave's policy or signature check rejected this transfer, and would reject it again. */
  | 'refused'
  /** The enclave certainly did not send the transfer, for a reason that may go away. It can be retried. */
  | 'not_sent'
  /** The enclave may have sent the transfer, or may still send it. */
  | 'unknown'

export type SendFailure = {
  /** HTTP status, or null if there was no response. */
  readonly status: number | null
  /** The enclave's error code, or our own code if the response has none. */
  readonly code: string
  /** The enclave's message. */
  readonly reason: string
  /** Whether the enclave itself wrote the response's body. It may also be, for example, the error page of a proxy. */
  readonly isProviderError: boolean
}

/** The documented codes with which the enclave rejects a request before it signs anything. Their status is 400. */
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

/**
 * If the enclave returns one of these statuses, it did nothing, whatever the code is. A proxy can also return them, so
 * `isProviderError` must be true too.
 */
const NOT_SENT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 413, 414, 415, 422, 429, 431])

/**
 * Decides the outcome of an attempt from the enclave's response. In case of doubt, the outcome is `unknown`: a wrong
 * `unknown` only delays the payment, but a wrong `not_sent` could pay twice.
 *
 * A 4xx status is evidence only if the enclave itself wrote the body, because a proxy can return any status after the
 * enclave has sent the transfer.
 */
export function decideSendOutcome({ status, code, reason, isProviderError }: SendFailure): SendOutcome {
  if (status === null || status < 400 || status >= 500 || !isProviderError) return 'unknown'
  // The enclave has received an earlier attempt of the same payment, so it may have sent the payment.
  if (isKnownAlready(code, reason)) return 'unknown'
  if (code === 'policy_violation') return 'refused'
  if (status === 401 && isSignatureRejected(reason)) return 'refused'
  // The broadcast failed after signing. The provider's documentation calls this "safe to retry", but a node may have
  // accepted the transaction.
  if (code.startsWith('transaction_')) return 'unknown'
  if (NOT_SENT_STATUSES.has(status)) return 'not_sent'
  if (status === 400 && (NOT_SENT_CODES.has(code) || isWithoutSponsorship(reason))) return 'not_sent'
  return 'unknown'
}

/**
 * Returns whether the reference id exists already, or an earlier request used the idempotency key with another body.
 */
function isKnownAlready(code: string, reason: string): boolean {
  return (
    code === 'resource_already_exists' ||
    code === 'resource_conflict' ||
    /reference_id.*\b(unique|already|exists|duplicate|taken|in use|used)\b/i.test(reason) ||
    /idempotency key was reused/i.test(reason)
  )
}

/**
 * Returns whether the signature was rejected. Only the enclave's message shows this: the code is missing, or is the
 * general code for invalid data.
 */
export function isSignatureRejected(reason: string): boolean {
  if (/\brequest has expired\b/i.test(reason)) return false
  return /no valid authorization signatures|not enough valid authorization signatures|number of signatures/i.test(
    reason,
  )
}

function isWithoutSponsorship(reason: string): boolean {
  return /gas sponsorship is not enabled|insufficient gas credits/i.test(reason)
}
