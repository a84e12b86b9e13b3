import { Problem, problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { countPasskeys, deletePasskey, lockUser } from './passkeys-store.ts'

/**
 * Removes one of a user's passkeys. The last passkey cannot be removed, even if several are removed at the same time.
 *
 * Errors: 403 `verification_required`; 404 if the user does not have this passkey; 409 `last_passkey`.
 */
export async function removePasskey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session, credentialId }: { session: SignedInUser; credentialId: string },
): Promise<void> {
  const now = ctx.clock.now()
  requireRecentProof(session, now)
  const { userId } = session
  await ctx.db.transaction(async (transaction) => {
    const [, count, isRemoved] = await transaction.batch([
      lockUser(userId),
      countPasskeys(userId),
      deletePasskey(userId, credentialId),
    ])
    if (!isRemoved) throw new Problem('not_found', 'You do not have this passkey.')
    if (count <= 1) throw problem('last_passkey')
    const entry = insertPersonalEntry(userId, {
      createdAt: now,
      action: 'passkey.removed',
      subject: credentialId,
    })
    await transaction.commit([entry])
  })
}
