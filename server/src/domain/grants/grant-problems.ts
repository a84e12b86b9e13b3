import { problem, type Problem } from '../../values/problem.ts'
import type { Grant } from './grant.ts'

/**
 * The details name the grant that replaced this one, so that a user who wants to stop the agent finds the grant to
 * revoke.
 */
export function grantRevoked({ replacedBy }: Pick<Grant, 'replacedBy'>): Problem {
  return problem('grant_revoked', replacedBy === null ? {} : { details: { replaced_by: replacedBy } })
}

/** `retryAt` is the latest time at which the other change ends. */
export function signerChangeUnderWay(retryAt: Date): Problem {
  return problem('signer_change_under_way', { details: { retry_at: retryAt.toISOString() } })
}
