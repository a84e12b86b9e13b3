import { problem, type Problem } from '../../values/problem.ts'
import type { Grant } from './grant.ts'

/**
 * Returns the error for a grant that is revoked. If another grant replaced it, the details name that other grant,
 * because a user who wants to stop the agent has to revoke that one.
 */
export function grantRevoked({ replacedBy }: Pick<Grant, 'replacedBy'>): Problem {
  return problem('grant_revoked', replacedBy === null ? {} : { details: { replaced_by: replacedBy } })
}
