import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { describeKey, HELD_KEYS_LISTED_MAX, type MadeKey } from './api-key.ts'
import { confirmKeyRows, revokeHeldKeyRows } from './held-keys-store.ts'
import { listHeldKeySummaries } from './key-summaries-store.ts'
import { mayConfirmKeys } from './keys-store.ts'

/** What an owner decided about the held keys. */
export interface HeldKeysDecision {
  readonly confirmed: readonly MadeKey[]
  readonly revoked: readonly MadeKey[]
}

/**
 * Applies an owner's decision on the keys that are held after a restore (D96a): the keys with the ids in `confirm` work
 * again at once, and all other keys that `listHeldKeys` lists are revoked. Both apply to keys of both modes. The workspace
 * is locked meanwhile, so two owners who decide at the same time cannot overwrite each other's decision.
 *
 * Confirming gives power, so it requires a recent proof of the user's presence (D59).
 *
 * Errors: 403 `verification_required`, and `role_insufficient` if the user is not an owner now; 409 `key_not_held` if
 * `confirm` names a key that does not wait, for example because another owner has decided meanwhile. Then nothing is
 * changed.
 */
export async function confirmHeldKeys(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, user, confirm }: { workspaceId: string; user: SignedInUser; confirm: readonly string[] },
): Promise<HeldKeysDecision> {
  const now = ctx.clock.now()
  requireRecentProof(user, now)
  const { userId } = user
  return await ctx.db.transaction(async (transaction) => {
    const [, mayConfirm, held] = await transaction.batch([
      lockWorkspace(workspaceId),
      mayConfirmKeys({ workspaceId, userId }),
      listHeldKeySummaries(workspaceId, now, HELD_KEYS_LISTED_MAX),
    ])
    if (!mayConfirm) throw problem('role_insufficient')
    const confirmed = held.filter(({ id }) => confirm.includes(id))
    if (confirmed.length < new Set(confirm).size) throw problem('key_not_held')
    const revoked = held.filter((key) => !confirmed.includes(key))
    const entry = { logId: workspaceId, createdAt: now, actor: { kind: 'user', id: userId } } as const
    await transaction.commit([
      confirmKeyRows(workspaceId, idsOf(confirmed), now),
      revokeHeldKeyRows(workspaceId, idsOf(revoked), now),
      ...confirmed.map((key) =>
        insertAuditEntry({ ...entry, action: 'key.confirmed', subject: key.id, details: describeKey(key) }),
      ),
      ...revoked.map((key) => {
        const details = { ...describeKey(key), because: 'restore' }
        return insertAuditEntry({ ...entry, action: 'key.revoked', subject: key.id, details })
      }),
    ])
    return { confirmed, revoked }
  })
}

function idsOf(keys: readonly MadeKey[]): string[] {
  return keys.map(({ id }) => id)
}
