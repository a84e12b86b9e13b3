import { createId } from '../../values/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { holdsSignerChange } from '../wallets/wallets-store.ts'
import { recordStatusChange } from './record-status-change.ts'
import { getGrant } from './get-grant.ts'
import type { Grant, GrantAction, WalletSigner } from './grant.ts'
import { grantRevoked, signerChangeUnderWay } from './refusal.ts'
import { endUnbound, markActive, markRevoked } from './grants-store.ts'
import type { SignerHold } from './with-signer-change.ts'

export interface Change {
  readonly grant: Grant
  readonly change: GrantAction
  /** The enclave's list, read under the lease. */
  readonly signers: readonly WalletSigner[]
  readonly actor: Actor
  /** Since when the owner knew what was signed: a later suspension of what is replaced goes on. */
  readonly signedSince: Date
}

/**
 * Moves a grant to what the enclave now enforces by its list of `signers`, once, with its event and its audit row. So is
 * moved, in the same transaction and before it, the agent's active grant that the list binds no more: the one that is
 * replaced. A grant that is there already stays as it is. Only while the lease on the wallet's signers is ours.
 */
export async function recordChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, until }: SignerHold,
  { grant, change, signers, actor, signedSince }: Change,
): Promise<Grant> {
  const { accountId, id } = grant
  const isActivation = change === 'activate'
  const bound = signers.flatMap(({ policyIds }) => policyIds)
  const activatedBy = actor.kind === 'user' ? actor.id : null
  const moved = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [isOurs, ended, after] = await transaction.batch([
      holdsSignerChange(wallet, until),
      endUnbound(grant, { bound, replacedBy: isActivation ? id : null, now }),
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

/** Events are listed by id: what ended is told before what took its place. */
function twoEventIds(now: Date): readonly [string, string] {
  const ids = [createId('event', now), createId('event', now)] as const
  return ids[0] < ids[1] ? ids : [ids[1], ids[0]]
}
