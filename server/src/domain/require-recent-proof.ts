import { problem } from '../values/problem.ts'

/** How long a proof of presence stays valid for actions that require one (D59). */
export const RECENT_PROOF_MS = 10 * 60 * 1_000

/** When a user last proved their presence, with a passkey or a recovery code. */
export interface Proof {
  readonly verifiedAt: Date
}

/** A signed-in user with the time of their last proof. A session is one. */
export interface SignedInUser extends Proof {
  readonly userId: string
}

/**
 * The actor of a change to access rights or credentials: a user with the time of their last proof, or the operator, who
 * has no session that could be stolen.
 */
export type ProvenActor =
  ({ readonly kind: 'user'; readonly id: string } & Proof) | { readonly kind: 'operator'; readonly id?: undefined }

/** Whether the proof is recent enough. */
export function isProofRecent({ verifiedAt }: Proof, now: Date): boolean {
  return now.getTime() < verifiedAt.getTime() + RECENT_PROOF_MS
}

/**
 * Throws 403 `verification_required` unless the user proved their presence within the last ten minutes. Every verb that
 * changes access rights or creates a credential calls this itself, so a stolen session cookie alone gains nothing,
 * whichever door it is used at (D59).
 */
export function requireRecentProof(by: Proof | ProvenActor, now: Date): void {
  if ('verifiedAt' in by && !isProofRecent(by, now)) throw problem('verification_required')
}
