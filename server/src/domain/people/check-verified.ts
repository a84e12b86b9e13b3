import { problem } from '../../values/problem.ts'
import { isVerified, type Session } from './session.ts'

/** 403 `verification_required` unless the person proved to be there just now. */
export function checkVerified(session: Session, now: Date): void {
  if (!isVerified(session, now)) throw problem('verification_required')
}
