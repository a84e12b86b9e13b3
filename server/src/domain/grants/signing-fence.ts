import type { Grant, GrantChange, StoredSigningRequest } from './grant.ts'

/**
 * The members of a signing request that decide until when it may take effect. Requests that do not change a grant have
 * them too.
 */
export type FencedRequest = Pick<StoredSigningRequest, 'expires_at' | 'handed_in_by'>

/** How much time the owner has for signing; the specification says "within minutes" (D15). */
export const SIGNING_REQUEST_MS = 5 * 60 * 1_000
/**
 * For this long after a request expires, it may still take effect: the enclave's clock may be behind ours, and the
 * enclave takes a moment to apply a request that it accepted in time.
 */
export const SIGNATURE_FENCE_MARGIN_MS = 5_000

/** Returns the fence: the time after which the request, if it was sent, can no longer take effect. */
export function fenceOf({ expires_at: expiresAt }: FencedRequest): Date {
  return new Date(Date.parse(expiresAt) + SIGNATURE_FENCE_MARGIN_MS)
}

export function issuedAt({ expires_at: expiresAt }: StoredSigningRequest): Date {
  return new Date(Date.parse(expiresAt) - SIGNING_REQUEST_MS)
}

/**
 * Returns whether the grant `suspended` was suspended after the owner was shown the request. The signature would
 * silently end that suspension. For a resume, `suspended` is the grant itself; for an activation, the grant to replace.
 */
export function isOutdated(request: StoredSigningRequest, suspended: Grant | null): boolean {
  return suspended !== null && suspended.suspendedAt !== null && suspended.suspendedAt >= issuedAt(request)
}

/** One signed request is sent at most this many times. After that, callers wait until it can no longer take effect. */
const SENDERS_MAX = 100

/**
 * Returns whether the lease that ends at `held` was extended in order to send this very request. Each further sender
 * extends it by a millisecond (see `leaseEndForSending`).
 */
export function isFencedFor(request: FencedRequest, held: Date): boolean {
  const beyondMs = held.getTime() - fenceOf(request).getTime()
  return request.handed_in_by !== undefined && beyondMs >= 0 && beyondMs < SENDERS_MAX
}

/**
 * Returns the request for this change whose signature was submitted, if its outcome was never recorded. Otherwise null.
 */
export function findSubmittedRequest({ signingRequest }: Grant, change: GrantChange): StoredSigningRequest | null {
  return signingRequest?.change === change && signingRequest.handed_in_by !== undefined ? signingRequest : null
}
