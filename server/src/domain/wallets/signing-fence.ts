import type { Actor } from '../audit/audit-entry.ts'

/** The members of a request for an owner to sign that decide until when it may take effect at the enclave. */
export interface FencedRequest {
  readonly expiresAt: Date
  /** Who last submitted the owner's signature. Stored before the enclave is called. Null if nobody has submitted it. */
  readonly submittedBy: Actor | null
}

/** How much time the owner has for signing; the specification says "within minutes" (D15). */
export const SIGNING_REQUEST_MS = 5 * 60 * 1_000
/**
 * For this long after a request expires, it may still take effect: the enclave's clock may be behind ours, and the
 * enclave takes a moment to apply a request that it accepted in time.
 */
export const SIGNATURE_FENCE_MARGIN_MS = 5_000

/** Returns the fence: the time after which the request, if it was sent, can no longer take effect. */
export function fenceOf({ expiresAt }: Pick<FencedRequest, 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() + SIGNATURE_FENCE_MARGIN_MS)
}

export function issuedAt({ expiresAt }: Pick<FencedRequest, 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() - SIGNING_REQUEST_MS)
}

/** One signed request is sent at most this many times. After that, callers wait until it can no longer take effect. */
const SENDERS_MAX = 100

/**
 * Returns whether the lease that ends at `held` was extended in order to send this very request. Each further sender
 * extends it by a millisecond (see `sendSignedRequest`).
 */
export function isFencedFor(request: FencedRequest, held: Date): boolean {
  const beyondMs = held.getTime() - fenceOf(request).getTime()
  return request.submittedBy !== null && beyondMs >= 0 && beyondMs < SENDERS_MAX
}
