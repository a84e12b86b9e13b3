import { hashSecret } from '../../values/secret.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { deleteRecoveryCodes, insertRecoveryCodes, lockUser } from './passkeys-store.ts'
import { createRecoveryCode, RECOVERY_CODES } from './recovery-code.ts'

/**
 * Replaces all recovery codes of a user, used or not, with new codes. Returns the new codes, which are shown once.
 *
 * Errors: 403 `verification_required`.
 */
export async function issueRecoveryCodes(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session }: { session: SignedInUser },
): Promise<string[]> {
  const now = ctx.clock.now()
  requireRecentProof(session, now)
  const { userId } = session
  const { codes, hashes } = makeRecoveryCodes()
  await ctx.db.transaction((transaction) =>
    transaction.commit([
      lockUser(userId),
      deleteRecoveryCodes(userId),
      insertRecoveryCodes(userId, hashes, now),
      insertPersonalEntry(userId, {
        createdAt: now,
        action: 'recovery_codes.issued',
      }),
    ]),
  )
  return codes
}

export function makeRecoveryCodes(): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, createRecoveryCode)
  return { codes, hashes: codes.map(hashSecret) }
}
