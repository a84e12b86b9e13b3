import { openWindows } from '../../limiter/limiter-store.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { describeKey, ROTATION_GRACE_MS } from './api-key.ts'
import { checkKeyLimit } from './check-key-limit.ts'
import { checkMaker } from './check-maker.ts'
import { findKey, type KeyReference } from './queries.ts'
import { makeKey, type IssuedKey } from './issue-key.ts'
import { countUsableKeys, insertKey, mayMakeKeys, startGrace } from './keys-store.ts'

/**
 * Replaces a key with a new one. The new key works at once, and the old key works for 24 hours more (specification,
 * part 5). During this time, both count against the limit of keys. The new key has the restrictions of the old one
 * (D56). The new key gives access, so rotating requires a recent proof of the user's presence (D59). The person who
 * rotates sees the new secret, so that person is the creator of the new key.
 *
 * Errors: 403 `verification_required`, `role_insufficient`; 404 `key_not_found` for an unknown id; 409 `key_not_rotatable` for an unknown
 * secret or a key that was already rotated or revoked; 409 `key_limit_reached`.
 */
export async function rotateKey(
  ctx: Pick<Context, 'db' | 'clock' | 'cell'>,
  { actor, ...reference }: KeyReference & { actor: ProvenActor },
): Promise<IssuedKey & { graceUntil: Date }> {
  requireRecentProof(actor, ctx.clock.now())
  const old = await findKey(ctx, reference)
  if (old === null) throw problem('secret' in reference ? 'key_not_rotatable' : 'key_not_found')
  const { workspaceId, mode, name, agentId, scopes } = old
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const graceUntil = new Date(now.getTime() + ROTATION_GRACE_MS)
    const [, mayMake, isRotated, usable] = await transaction.batch([
      lockWorkspace(workspaceId),
      mayMakeKeys({ workspaceId, userId: actor.id ?? '' }),
      startGrace(workspaceId, old.id, graceUntil),
      countUsableKeys(workspaceId, mode, now),
    ])
    checkMaker(actor, mayMake)
    if (!isRotated) throw problem('key_not_rotatable')
    checkKeyLimit(actor, usable)
    const issued = makeKey({ workspaceId, mode, name, agentId, scopes, actor, createdAt: now, cell: ctx.cell })
    const details = { ...describeKey(old), new_key: issued.key.id }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'key.rotated', details } as const
    await transaction.commit([
      insertKey(issued.key),
      openWindows(issued.key.secretHash),
      insertAuditEntry({ ...entry, subject: old.id }),
    ])
    return { ...issued, graceUntil }
  })
}
