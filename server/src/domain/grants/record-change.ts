import type { SlotRules } from '../../enclave/enclave.ts'
import { createId } from '../../values/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import { signerChangeUnderWay, type SignerLease } from '../wallets/with-signer-lease.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { recordStatusChange } from './record-status-change.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange } from './grant.ts'
import { grantRevoked } from './grant-problems.ts'
import { grantIdOf } from './rule-name.ts'
import { endUnenforced, markActive, markGrantRevoked } from './grants-store.ts'

export interface RecordedChange {
  readonly grant: Grant
  readonly change: GrantChange
  /** The slot's rules at the enclave, read while holding the lease. */
  readonly rules: SlotRules
  readonly actor: Actor
  /**
   * When the owner was shown what they signed. If the grant that is replaced was suspended after this time, or a stop
   * that concerns the new grant was made since then, the new grant starts suspended.
   */
  readonly signedSince: Date
}

/**
 * Records that a grant is active or revoked, with an event and an audit entry. A grant that already has the new status
 * stays unchanged. If the grant's slot has another active grant that the enclave's `rules` no longer name, that other
 * grant was replaced: it is revoked first, in the same transaction.
 *
 * Throws if this process no longer holds the lease on the wallet's grants.
 */
export async function recordChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, until }: SignerLease,
  { grant, change, rules, actor, signedSince }: RecordedChange,
): Promise<Grant> {
  const { workspaceId, id } = grant
  const isActivation = change === 'activate'
  const enforced = rules.map(({ name }) => grantIdOf(name))
  const activatedBy = actor.kind === 'user' ? actor.id : null
  const moved = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    // With the workspace's lock, a stop either sees the activated grant, or is seen here.
    const [, isOurs, ended, after] = await transaction.batch([
      lockWorkspace(workspaceId),
      holdsSignerLease(wallet, until),
      endUnenforced(grant, { enforced, replacedBy: isActivation ? id : null, now }),
      isActivation
        ? markActive(workspaceId, id, now, { activatedBy, signedSince })
        : markGrantRevoked(workspaceId, id, now),
    ])
    if (!isOurs) throw signerChangeUnderWay(now)
    if (after === null) {
      await transaction.rollback()
      return null
    }
    const [first, second] = twoEventIds(now)
    await transaction.commit([
      ...(ended === null ? [] : recordStatusChange(ended, { now, actor, eventId: first })),
      ...recordStatusChange(after, { now, actor, eventId: second }),
    ])
    return after
  })
  if (moved !== null) return moved
  const recorded = await getGrant(ctx, { workspaceId, grantId: id })
  if (recorded.status !== (isActivation ? 'active' : 'revoked')) throw grantRevoked(recorded)
  return recorded
}

/**
 * Returns two event ids, the lower one first. Events are sorted by id, so the lower id is for the event that must come
 * first: the event of the grant that ended.
 */
function twoEventIds(now: Date): readonly [string, string] {
  const ids = [createId('event', now), createId('event', now)] as const
  return ids[0] < ids[1] ? ids : [ids[1], ids[0]]
}
