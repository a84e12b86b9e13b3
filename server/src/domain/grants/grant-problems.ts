import { problem, type Problem } from '../../values/problem.ts'
import type { Grant } from './grant.ts'

/** Its details name the grant that took its place, so that who wants to stop the agent finds what to stop. */
export function grantRevoked({ replacedBy }: Pick<Grant, 'replacedBy'>): Problem {
  return problem('grant_revoked', replacedBy === null ? {} : { details: { replaced_by: replacedBy } })
}

/** `retryAt`: when it is over at the latest. */
export function signerChangeUnderWay(retryAt: Date): Problem {
  return problem('signer_change_under_way', { details: { retry_at: retryAt.toISOString() } })
}
