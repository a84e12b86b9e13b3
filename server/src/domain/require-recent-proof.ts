import { problem } from '../values/problem.ts'

/** How long a proof of presence stays valid for actions that require a recent proof (D59). */
export const RECENT_PROOF_MS = 10 * 60 * 1_000

/** When a user last proved that they were present, by using a passkey or a recovery code. */
export interface Proof {
  readonly verifiedAt: Date
}

/** A signed-in user with the time of their last proof of presence. A session, for example, has these fields. */
export interface SignedInUser extends Proof {
  readonly userId: string
}

/**
 * Who changes access rights or credentials. It is either a user, with the time of their last proof of presence, or the
 * operator, who has no session that could be stolen.
 */
export type ProvenActor =
  | ({ readonly kind: 'user'; readonly id: string } & Proof)
  | { readonly kind: 'operator'; readonly id?: undefined }

/** Returns whether the proof of presence is recent enough. */
export function isProofRecent({ verifiedAt }: Proof, now: Date): boolean {
  return now.getTime() < verifiedAt.getTime() + RECENT_PROOF_MS
}

/**
 * Throws 403 `verification_required` unless the user proved their presence within the last ten minutes. This protects
 * functions, such as the creation of an API key, that would give new rights to somebody who has stolen a session
 * cookie. These functions of the domain make the check themselves, so that it is the same for every API (D59).
 */
export function requireRecentProof(by: Proof | ProvenActor, now: Date): void {
  if ('verifiedAt' in by && !isProofRecent(by, now)) throw problem('verification_required')
}
