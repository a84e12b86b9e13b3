import type { Grant, GrantAction, StoredSigningRequest } from './grant.ts'

/** How long the owner has to sign (D15: "within minutes"). */
export const SIGNING_REQUEST_MS = 5 * 60 * 1_000
/** The enclave's clock may be behind ours, and what it took in time is done a little later. */
export const SIGNATURE_FENCE_MARGIN_MS = 5_000

/** From then on the request, once it was sent, can't come into force any more. */
export function fenceOf({ expires_at: expiresAt }: StoredSigningRequest): Date {
  return new Date(Date.parse(expiresAt) + SIGNATURE_FENCE_MARGIN_MS)
}

export function issuedAt({ expires_at: expiresAt }: StoredSigningRequest): Date {
  return new Date(Date.parse(expiresAt) - SIGNING_REQUEST_MS)
}

/** Whether the grant to replace was suspended after this was put before the owner: signing it would not know of it. */
export function isOvertaken(request: StoredSigningRequest, replaced: Grant | null): boolean {
  return replaced !== null && replaced.suspendedAt !== null && replaced.suspendedAt >= issuedAt(request)
}

/** Whether the lease is left from sending this very request. */
export function isFencedFor(request: StoredSigningRequest, held: Date): boolean {
  return request.handed_in_by !== undefined && held.getTime() === fenceOf(request).getTime()
}

/** What somebody signed for this change and handed in, if its outcome was not written down. */
export function findHandedIn({ signingRequest }: Grant, change: GrantAction): StoredSigningRequest | null {
  return signingRequest?.change === change && signingRequest.handed_in_by !== undefined ? signingRequest : null
}
