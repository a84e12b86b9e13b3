import type { PolicyRule } from '../../enclave/policy-rules.ts'
import { createId } from '../../values/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import { recordStatusChange } from './record-status-change.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange } from './grant.ts'
import { grantRevoked, signerChangeUnderWay } from './grant-problems.ts'
import { endUnenforced, markActive, markRevoked } from './grants-store.ts'
import type { SignerLease } from './with-signer-lease.ts'

/** The changes that give a grant another status. */
export type StatusChange = Exclude<GrantChange, 'resume'>

export interface RecordedChange {
  readonly grant: Grant
  readonly change: StatusChange
  /** The rules of the slot's policy at the enclave, read while holding the lease. */
  readonly rules: readonly PolicyRule[]
  readonly actor: Actor
  /**
   * When the owner was shown what they signed. If the replaced grant was suspended later, the new one starts suspended.
   */
  readonly signedSince: Date
}

/**
 * Records that a grant is active or revoked, once, with its event and its audit entry, according to the enclave's
 * `rules` in its slot. If the slot has another active grant that the rules no longer name, that grant was replaced: it
 * is revoked first, in the same transaction. A grant that already has the new status stays unchanged.
 *
 * Throws unless the lease on the wallet's grants is still ours.
 */
export async function recordChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, until }: SignerLease,
  { grant, change, rules, actor, signedSince }: RecordedChange,
): Promise<Grant> {
  const { accountId, id } = grant
  const isActivation = change === 'activate'
  const enforced = rules.map(({ name }) => name)
  const activatedBy = actor.kind === 'user' ? actor.id : null
  const moved = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [isOurs, ended, after] = await transaction.batch([
      holdsSignerLease(wallet, until),
      endUnenforced(grant, { enforced, replacedBy: isActivation ? id : null, now }),
      isActivation ? markActive(accountId, id, now, { activatedBy, signedSince }) : markRevoked(accountId, id, now),
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
  const recorded = await getGrant(ctx, { accountId, grantId: id })
  if (recorded.status !== (isActivation ? 'active' : 'revoked')) throw grantRevoked(recorded)
  return recorded
}

/** Events are sorted by id, so the event of the grant that ended gets the lower id. */
function twoEventIds(now: Date): readonly [string, string] {
  const ids = [createId('event', now), createId('event', now)] as const
  return ids[0] < ids[1] ? ids : [ids[1], ids[0]]
}
