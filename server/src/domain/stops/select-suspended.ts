import { isId } from '../../values/ids.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { grantRevoked } from '../grants/grant-problems.ts'
import type { Grant } from '../grants/grant.ts'
import { getGrant } from '../grants/queries.ts'
import { listStoppedGrants } from '../grants/stopped-grants-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { RESUMED_MAX, type Stop } from './stop.ts'
import { findStop } from './stops-store.ts'

/** What is to be resumed: what a stop has suspended, or one grant. */
export type Resumed = { readonly stopId: string } | { readonly grantId: string }

export interface Suspended {
  /** Null if one grant is to be resumed. */
  readonly stop: Stop | null
  /** At least one, at most `RESUMED_MAX`. */
  readonly grants: readonly [Grant, ...Grant[]]
}

/**
 * Returns the grants that one statement resumes. Of a stop, these are the grants on wallets that the passkey owns.
 *
 * Errors: 404; 409 `grant_not_suspended`; for one grant also 409 `grant_revoked`, `grant_not_active`; 400 if it has
 * expired.
 */
export async function selectSuspended(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, credentialId, ...resumed }: Resumed & { workspaceId: string; credentialId: string },
): Promise<Suspended> {
  const now = ctx.clock.now()
  if ('grantId' in resumed) {
    const grant = await getGrant(ctx, { workspaceId, grantId: resumed.grantId })
    if (grant.status === 'revoked') throw grantRevoked(grant)
    if (grant.status !== 'active') throw problem('grant_not_active')
    if (grant.suspendedAt === null) throw problem('grant_not_suspended')
    if (grant.expiresAt !== null && grant.expiresAt <= now) {
      throw invalidMember('expires_at', 'is in the past. Create another grant')
    }
    return { stop: null, grants: [grant] }
  }
  const stop = isId('stop', resumed.stopId) ? await ctx.db.read(findStop(workspaceId, resumed.stopId)) : null
  if (stop === null) throw new Problem('not_found', 'There is no stop with this id in this workspace.')
  const query = listStoppedGrants(stop, { credentialId, now, limit: RESUMED_MAX })
  const [first, ...others] = await ctx.db.readSlow(query, workspaceId)
  if (first === undefined) throw problem('grant_not_suspended')
  return { stop, grants: [first, ...others] }
}

export function walletOf({
  workspaceId,
  mode,
  walletAddress,
}: Grant): Pick<Wallet, 'workspaceId' | 'mode' | 'address'> {
  return { workspaceId, mode, address: walletAddress }
}
