import { isSignatureRejected, type SendFailure } from './send-outcome.ts'

/** What a failed response means for one request to sign an authorization. */
export type SigningOutcome =
  /** The enclave's policy or signature check rejected the authorization, and would reject it again. */
  | 'refused'
  /** The enclave certainly signed nothing in this request, for a reason that may go away. It can be asked again. */
  | 'not_signed'
  /** The enclave may have signed. It can be asked again, for the same authorization. */
  | 'unknown'

/** The documented codes with which the enclave rejects a request before it signs anything. Their status is 400. */
const NOT_SIGNED_CODES: ReadonlySet<string> = new Set([
  'invalid_data',
  'invalid_request',
  'invalid_policy_format',
  'invalid_state',
  'feature_not_enabled',
  'compliance_blocked',
  'missing_or_invalid_privy_app_id',
  'missing_or_invalid_token',
  'missing_or_empty_authorization_header',
  'request_expired',
  'too_many_requests',
])

/** If the enclave itself returns one of these statuses, it signed nothing, whatever the code is. */
const NOT_SIGNED_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 413, 414, 415, 422, 429, 431])

/**
 * Decides the outcome of a request to sign. In case of doubt it is `unknown`, because a wrong `refused` would release
 * an amount that a signature can still move. A wrong `unknown` only costs another request.
 *
 * `refused` and `not_signed` say something about this request only. If an earlier request for the same authorization
 * had an unknown outcome, a signature may exist.
 */
export function decideSigningOutcome({ status, code, reason, isProviderError }: SendFailure): SigningOutcome {
  if (status === null || status < 400 || status >= 500 || !isProviderError) return 'unknown'
  // The enclave has received this idempotency key with another body, and may have signed that body.
  if (code === 'resource_conflict' || /idempotency key was reused/i.test(reason)) return 'unknown'
  if (code === 'policy_violation') return 'refused'
  if (status === 401 && isSignatureRejected(reason)) return 'refused'
  if (NOT_SIGNED_STATUSES.has(status)) return 'not_signed'
  return status === 400 && NOT_SIGNED_CODES.has(code) ? 'not_signed' : 'unknown'
}
