import { problem } from '../../values/problem.ts'
import { hashSecret } from '../../values/secret.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { takeRecoveryCode } from '../passkeys/passkeys-store.ts'
import { issueSession, type IssuedSession } from './issue-session.ts'
import { parseRecoveryCode } from '../passkeys/recovery-code.ts'

/**
 * Signs in with a recovery code, which can be used once. The sign-in counts as a recent proof of the user's presence,
 * so that the user can add a passkey.
 *
 * Errors: 401 `recovery_code_invalid`, whatever is wrong with the code.
 */
export async function signInWithRecoveryCode(
  ctx: Pick<Context, 'db' | 'clock'>,
  { code: typed, device }: { code: string; device: string },
): Promise<IssuedSession> {
  const code = parseRecoveryCode(typed)
  if (code === null) throw problem('recovery_code_invalid')
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const taken = await transaction.run(takeRecoveryCode(hashSecret(code), now))
    if (taken === null) throw problem('recovery_code_invalid')
    const { issued, queries } = issueSession({ ...taken, device }, now)
    const entry = insertPersonalEntry(taken.userId, {
      createdAt: now,
      action: 'user.recovered',
      details: { device: issued.session.device },
    })
    await transaction.commit([...queries, entry])
    return issued
  })
}
