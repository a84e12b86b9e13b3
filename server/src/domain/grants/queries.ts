import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { issuedAt } from '../wallets/signing-fence.ts'
import type { Grant, GrantSummary, PendingGrant, StoredSigningRequest } from './grant.ts'
import { findGrant, isStoppedSince } from './grants-store.ts'
import { findNoSpendableReason, type NoSpendableReason } from './missing-grant-store.ts'
import { listPendingOfUser } from './pending-grants-store.ts'
import { findSummary, listSummaries, type GrantFilter } from './summaries-store.ts'

/** Returns a grant of the workspace, or throws 404 `not_found`. */
export async function getGrant(
  ctx: Pick<Context, 'db'>,
  { workspaceId, grantId }: { workspaceId: string; grantId: string },
): Promise<Grant> {
  const grant = isId('grant', grantId) ? await ctx.db.read(findGrant(workspaceId, grantId)) : null
  if (grant === null) throw new Problem('not_found', 'There is no grant with this id in this workspace.')
  return grant
}

/**
 * Returns whether the grant that `grant` is to replace was suspended after the owner was shown the request, or a stop
 * was made since then that concerns `grant`. The signature would silently end that suspension or stop.
 */
export async function isOutdated(
  ctx: Pick<Context, 'db'>,
  grant: Grant,
  request: StoredSigningRequest,
): Promise<boolean> {
  if (request.change !== 'activate') return false
  return await ctx.db.read(isStoppedSince(grant, issuedAt(request)))
}

/** Returns a grant of the workspace as the user `userId` sees it, or throws 404 `not_found`. */
export async function getGrantSummary(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, grantId, userId }: { workspaceId: string; grantId: string; userId: string },
): Promise<GrantSummary> {
  const found = isId('grant', grantId)
    ? await ctx.db.read(findSummary(workspaceId, grantId, { userId, now: ctx.clock.now() }))
    : null
  if (found === null) throw new Problem('not_found', 'There is no grant with this id in this workspace.')
  return found
}

const GRANTS_LISTED_MAX = 200

/** Lists at most 200 grants of the workspace and mode: first those that are not revoked, each group newest first. */
export async function listGrantSummaries(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, userId, ...filter }: GrantFilter & { workspaceId: string; mode: Mode; userId: string },
): Promise<GrantSummary[]> {
  const now = ctx.clock.now()
  const query = listSummaries(workspaceId, mode, { ...filter, limit: GRANTS_LISTED_MAX, userId, now })
  return await ctx.db.readSlow(query, workspaceId)
}

/**
 * Lists the grants of both modes that wait for a signature, and that a user prepared or can sign. They stay when the user
 * leaves: the other people who can sign them are listed with each. At most 200, oldest first.
 */
export async function listPendingGrants(
  ctx: Pick<Context, 'db'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<PendingGrant[]> {
  return await ctx.db.readSlow(listPendingOfUser({ workspaceId, userId }, GRANTS_LISTED_MAX), workspaceId)
}

/** Says why an agent can currently spend from no wallet. */
export async function getNoSpendableReason(
  ctx: Pick<Context, 'db' | 'clock'>,
  holder: { readonly workspaceId: string; readonly mode: Mode; readonly agentId: string },
): Promise<NoSpendableReason> {
  return await ctx.db.read(findNoSpendableReason(holder, ctx.clock.now()))
}
