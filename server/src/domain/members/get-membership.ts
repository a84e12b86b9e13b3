import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Membership } from './member.ts'
import { findMembership } from './members-store.ts'
import { mayAct, type Role } from './role.ts'

/**
 * A person's place in the workspace with this slug. Who has none is answered as if there were no such workspace: 404.
 * Below the needed role: 403 `role_insufficient`.
 */
export async function getMembership(
  ctx: Pick<Context, 'db'>,
  { userId, slug, role }: { userId: string; slug: string; role: Role },
): Promise<Membership> {
  const membership = await ctx.db.runRelaxed(findMembership(userId, slug))
  if (membership === null) throw new Problem('not_found', 'No workspace has this slug.')
  if (!mayAct(membership.role, role)) throw problem('role_insufficient')
  return membership
}
