import { openWindows } from '../../limiter/store.ts'
import { hashSecret } from '../../values/secret.ts'
import { problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import { ROTATION_GRACE_MS } from './api-key.ts'
import { makeKey, type IssuedKey } from './issue-key.ts'
import { insertKey, startGrace } from './store.ts'

/**
 * Replaces a key: the new one works at once, the old one for 24 hours more (specification, part 5).
 * A key that is revoked, unknown or was rotated before is 409 `key_not_rotatable`.
 */
export async function rotateKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, actor = OPERATOR }: { secret: string; actor?: Actor },
): Promise<IssuedKey & { graceUntil: Date }> {
  const now = ctx.clock.now()
  const graceUntil = new Date(now.getTime() + ROTATION_GRACE_MS)
  return await ctx.db.transaction(async (transaction) => {
    const old = await transaction.run(startGrace(hashSecret(secret), graceUntil))
    if (old === null) throw problem('key_not_rotatable')
    const issued = makeKey(old.accountId, old.mode, now)
    const details = { mode: old.mode, new_key: issued.key.id }
    const entry = { logId: old.accountId, createdAt: now, actor, action: 'key.rotated', details } as const
    await transaction.commit([
      insertKey(issued.key),
      openWindows(issued.key.secretHash),
      insertAuditEntry({ ...entry, subject: old.id }),
    ])
    return { ...issued, graceUntil }
  })
}
