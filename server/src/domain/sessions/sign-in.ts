import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { checkAssertion } from '../passkeys/check-assertion.ts'
import { checkCounter } from '../passkeys/check-counter.ts'
import { advanceCounter } from '../passkeys/passkeys-store.ts'
import { issueSession, type IssuedSession } from './issue-session.ts'
import { takeCeremony } from '../passkeys/take-ceremony.ts'

/**
 * Signs in the user whose passkey signed the challenge. The session always gets a new secret, so a secret that somebody
 * planted in the browser before the sign-in is useless.
 *
 * Errors: 400 `ceremony_expired`; 401 `passkey_unknown`, `passkey_invalid`, `passkey_counter_went_back`.
 */
export async function signIn(
  ctx: Pick<Context, 'db' | 'clock' | 'logger' | 'relyingParty'>,
  { ceremony, response, device }: { ceremony: string; response: AuthenticationResponseJSON; device: string },
): Promise<IssuedSession> {
  const { challenge } = await takeCeremony(ctx, { secret: ceremony, kind: 'sign_in' })
  const { passkey, user, counter } = await checkAssertion(ctx, { challenge, response })
  const now = ctx.clock.now()
  const { issued, queries } = issueSession({ userId: user.id, userName: user.name, device }, now)
  const outcome = await ctx.db.transaction(async (transaction) => {
    const counted = await transaction.run(advanceCounter(passkey, { counter, now, requestedAt: null }))
    if (counted !== 'stored') return counted
    const entry = insertPersonalEntry(user.id, {
      createdAt: now,
      action: 'user.signed_in',
      subject: passkey.credentialId,
      details: { device: issued.session.device },
    })
    await transaction.commit([...queries, entry])
    return counted
  })
  await checkCounter(ctx, { outcome, passkey, counter, code: 'passkey_counter_went_back' })
  if (outcome === 'passkey_removed') throw problem('passkey_unknown')
  return issued
}
