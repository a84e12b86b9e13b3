import { problem } from '../values/problem.ts'

/** For how long a proof of presence, by passkey, allows what needs one (D59). */
export const VERIFICATION_MS = 10 * 60 * 1_000

/** When a person last proved to be there. */
interface Proof {
  readonly verifiedAt: Date
}

/**
 * Who changes power or makes a credential: a person, with the time of their last proof, or the operator, who has no
 * session that could be stolen.
 */
export type ProvenActor =
  ({ readonly kind: 'user'; readonly id: string } & Proof) | { readonly kind: 'operator'; readonly id?: undefined }

/** Whether the person proved to be there just now. */
export function isVerified({ verifiedAt }: Proof, now: Date): boolean {
  return now.getTime() < verifiedAt.getTime() + VERIFICATION_MS
}

/**
 * Throws 403 `verification_required` unless the person proved within the last ten minutes to be there. Every verb that
 * changes who has power, or makes a credential, calls this itself, so that a stolen session cookie gives nobody power
 * through any door (D59).
 */
export function requireRecentProof(by: Proof | ProvenActor, now: Date): void {
  if ('verifiedAt' in by && !isVerified(by, now)) throw problem('verification_required')
}
