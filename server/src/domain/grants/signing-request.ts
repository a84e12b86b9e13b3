import type { Grant, GrantChange, StoredSigningRequest } from './grant.ts'

/** How long the owner has to sign; the specification says "within minutes" (D15). */
export const SIGNING_REQUEST_MS = 5 * 60 * 1_000
/** The enclave's clock may be behind ours, and it takes a moment to apply what it accepted in time. */
export const SIGNATURE_FENCE_MARGIN_MS = 5_000

/** Returns the fence: the time after which the request, if it was sent, can no longer take effect. */
export function fenceOf({ expires_at: expiresAt }: StoredSigningRequest): Date {
  return new Date(Date.parse(expiresAt) + SIGNATURE_FENCE_MARGIN_MS)
}

export function issuedAt({ expires_at: expiresAt }: StoredSigningRequest): Date {
  return new Date(Date.parse(expiresAt) - SIGNING_REQUEST_MS)
}

/**
 * Returns whether the grant to replace was suspended after the owner was shown this request. Signing it would silently
 * lift the suspension.
 */
export function isOutdated(request: StoredSigningRequest, replaced: Grant | null): boolean {
  return replaced !== null && replaced.suspendedAt !== null && replaced.suspendedAt >= issuedAt(request)
}

/** Returns whether the lease was extended in order to send this very request. */
export function isFencedFor(request: StoredSigningRequest, held: Date): boolean {
  return request.handed_in_by !== undefined && held.getTime() === fenceOf(request).getTime()
}

/**
 * Returns the request for this change whose signature was submitted, if its outcome was never recorded. Otherwise null.
 */
export function findSubmittedRequest({ signingRequest }: Grant, change: GrantChange): StoredSigningRequest | null {
  return signingRequest?.change === change && signingRequest.handed_in_by !== undefined ? signingRequest : null
}
