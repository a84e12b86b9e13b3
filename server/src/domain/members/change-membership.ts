import type { Query } from '../../db/query.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { describeKey, type MadeKey } from '../keys/api-key.ts'
import { listKeysMadeBy } from '../keys/key-summaries-store.ts'
import { revokeKeysMadeBy } from '../keys/keys-store.ts'
import { type Proof, requireRecentProof } from '../require-recent-proof.ts'
import { decideMemberChange, type Membership } from './member.ts'
import { countOwners, deleteMember, findMember, revokeInvitationsBy, updateRole } from './members-store.ts'
import { hasPower, may, mayManage, type Role, ROLES } from '../../values/role.ts'

interface MembershipChange {
  readonly membership: Membership
  /** The session of the user who makes the change, with the time of their last proof of presence. */
  readonly session: Proof
  readonly userId: string
  /** Null removes the member. */
  readonly role: Role | null
  /** The ids of API keys that the member made, and that keep working although the member leaves or becomes a viewer. */
  readonly keepKeys?: readonly string[]
}

/** What became of the working API keys that a member had made (D88). */
export interface KeysLeftBehind {
  readonly revoked: readonly MadeKey[]
  readonly kept: readonly MadeKey[]
}

const NO_KEYS: KeysLeftBehind = { revoked: [], kept: [] }

/**
 * Changes a member's role. `membership` is that of the user who makes the change. Owners may change every role. Admins
 * may change the roles of admins and viewers, but cannot make anybody an owner. Has no effect if the member already has
 * the role.
 *
 * A member who becomes a viewer loses the API keys that they made, except those that `keepKeys` names (D88). Returns
 * both.
 *
 * Errors: 400 if `keepKeys` names keys and the new role is not viewer; 403 `role_insufficient`, `own_keys_not_kept`, and
 * `verification_required` without a recent proof of the user's presence (D59); 404 `member_not_found`, `key_not_found`;
 * 409 `last_owner` (exact even under concurrent changes).
 */
export async function changeRole(
  ctx: Pick<Context, 'db' | 'clock'>,
  change: MembershipChange & { readonly role: Role },
): Promise<KeysLeftBehind> {
  return await changeMembership(ctx, change)
}

/**
 * Removes a member. `membership` is that of the user who removes them. Every member may leave, except the last owner.
 * Owners may remove every member, and admins may remove admins and viewers.
 *
 * The member loses the API keys that they made, except those that `keepKeys` names (D88). Returns both.
 *
 * Errors: 403 `role_insufficient`, `own_keys_not_kept`, and `verification_required` if an owner or admin is removed
 * without a recent proof of the user's presence (D59); 404 `member_not_found`, `key_not_found`; 409 `last_owner` (exact
 * even under concurrent changes).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  removal: Omit<MembershipChange, 'role'>,
): Promise<KeysLeftBehind> {
  return await changeMembership(ctx, { ...removal, role: null })
}

/**
 * Changes a member's role, or removes the member if `role` is null. Locks the workspace and reads the roles again
 * before it decides. So the last two owners cannot both leave at the same time.
 *
 * A member who leaves or becomes a viewer loses the API keys that they made, in both modes: the next request with such
 * a key, on any server process, gets a 401. `keepKeys` names the keys that keep working. Nobody can keep their own keys,
 * because then leaving would take nothing from them. The key that a person got by rotating a key is a key that they
 * made, because they have seen its secret. Making a key locks the workspace too, so no key can be made meanwhile.
 *
 * Also revokes the open invitations that the member created for roles to which they may no longer invite. Otherwise a
 * removed member could join again through their own invitation. The connections of the member need no change: each use
 * of a token checks that the person who consented is still an owner or admin.
 *
 * Throws 403 `verification_required` if the old or the new role is owner or admin, and the user who makes the change
 * has no recent proof of presence (D59). This also applies to owners and admins who leave the workspace. Throws 403
 * `own_keys_not_kept`, and 404 `key_not_found` if `keepKeys` names something else than a working key that the member
 * made. Throws 400 if `keepKeys` names keys and the member keeps the power to make keys.
 */
async function changeMembership(
  ctx: Pick<Context, 'db' | 'clock'>,
  { membership, session, userId, role: next, keepKeys = [] }: MembershipChange,
): Promise<KeysLeftBehind> {
  const now = ctx.clock.now()
  const workspaceId = membership.workspace.id
  const actor = { kind: 'user', id: membership.userId } as const
  const isOwn = userId === membership.userId
  const losesKeys = next === null || !may(next, 'manageKeys')
  const entry = { logId: workspaceId, createdAt: now, actor } as const
  if (keepKeys.length > 0 && !losesKeys)
    throw invalidMember('keep_keys', 'is only allowed when the member loses their keys')
  if (keepKeys.length > 0 && isOwn) throw problem('own_keys_not_kept')
  return await ctx.db.transaction(async (transaction) => {
    const [, actorNow, targetNow, owners, made] = await transaction.batch([
      lockWorkspace(workspaceId),
      findMember(workspaceId, membership.userId),
      findMember(workspaceId, userId),
      countOwners(workspaceId),
      listKeysMadeBy({ workspaceId, userId }, now),
    ])
    const [actorRole, target] = [actorNow?.role ?? null, targetNow?.role ?? null]
    const refusal = decideMemberChange({ actor: actorRole, target, next, isOwn, owners })
    if (refusal !== null) throw problem(refusal)
    if (target === null || target === next) return NO_KEYS
    if (hasPower(target) || (next !== null && hasPower(next))) requireRecentProof(session, now)
    const kept = made.filter(({ id }) => keepKeys.includes(id))
    if (kept.length < new Set(keepKeys).size) throw problem('key_not_found')

    const lost = ROLES.filter((role) => mayManage(target, role) && (next === null || !mayManage(next, role)))
    const invitations =
      lost.length === 0 ? [] : await transaction.run(revokeInvitationsBy(workspaceId, userId, lost, now))
    const ended = losesKeys ? await transaction.run(revokeKeysMadeBy({ workspaceId, userId, keep: keepKeys }, now)) : []
    const revoked = made.filter(({ id }) => ended.includes(id))
    const keys = { revoked, kept }
    await transaction.commit([
      ...(next === null ? leave(keys) : change(next, target, keys)),
      ...invitations.map((id) => insertAuditEntry({ ...entry, action: 'invitation.revoked', subject: id })),
      ...revoked.map((key) => entryOfKey('key.revoked', key)),
      ...kept.map((key) => entryOfKey('key.kept', key)),
    ])
    return keys
  })

  function leave(keys: KeysLeftBehind): Query<unknown>[] {
    const details = describeKeys(keys)
    const entryOfChange = insertAuditEntry({ ...entry, action: 'member.removed', subject: userId, details })
    return [deleteMember(workspaceId, userId), entryOfChange]
  }

  function change(role: Role, before: Role, keys: KeysLeftBehind): Query<unknown>[] {
    const details = { role, before, ...describeKeys(keys) }
    const entryOfChange = insertAuditEntry({ ...entry, action: 'member.role_changed', subject: userId, details })
    return [updateRole(workspaceId, userId, role), entryOfChange]
  }

  function entryOfKey(action: 'key.revoked' | 'key.kept', key: MadeKey): Query<unknown> {
    return insertAuditEntry({ ...entry, action, subject: key.id, details: { ...describeKey(key), created_by: userId } })
  }
}

/** Names the keys in the audit entry of the change. A list without keys is left out. */
function describeKeys({ revoked, kept }: KeysLeftBehind): Readonly<Record<string, unknown>> {
  return {
    ...(revoked.length === 0 ? {} : { keys_revoked: revoked.map(({ id }) => id) }),
    ...(kept.length === 0 ? {} : { keys_kept: kept.map(({ id }) => id) }),
  }
}
