import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { Problem, problem } from '../../values/problem.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { checkAssertion } from '../passkeys/check-assertion.ts'
import { checkCounter } from '../passkeys/check-counter.ts'
import { advanceCounter } from '../passkeys/passkeys-store.ts'
import type { IssuedSession } from './issue-session.ts'
import type { Session } from './session.ts'
import { renewSession } from './sessions-store.ts'
import { takeCeremony } from '../passkeys/take-ceremony.ts'

/**
 * Records that the user of a session proved their presence. The session gets a new secret and the old one stops
 * working, so somebody who has stolen the old secret cannot use the newly verified session.
 *
 * Errors: 400 `ceremony_expired`; 401 `passkey_unknown`, `passkey_invalid` (also for another user's passkey),
 * `passkey_counter_went_back`, and `unauthenticated` if the session has ended meanwhile.
 */
export async function verifySession(
  ctx: Pick<Context, 'db' | 'clock' | 'logger' | 'relyingParty'>,
  { session, ceremony, response }: { session: Session; ceremony: string; response: AuthenticationResponseJSON },
): Promise<IssuedSession> {
  const { userId } = session
  const { challenge } = await takeCeremony(ctx, { secret: ceremony, kind: 'verification', userId })
  const { passkey, user, counter } = await checkAssertion(ctx, { challenge, response, mayOmitUser: true })
  if (user.id !== userId) throw problem('passkey_invalid')
  const now = ctx.clock.now()
  const secret = createSecret(SECRET_PREFIXES.session)
  const renewed = { ...session, secretHash: hashSecret(secret), verifiedAt: now, lastSeenAt: now }
  const outcome = await ctx.db.transaction(async (transaction) => {
    const counted = await transaction.run(advanceCounter(passkey, { counter, now, requestedAt: null }))
    if (counted !== 'stored') return counted
    const isRenewed = await transaction.run(renewSession(session.secretHash, renewed.secretHash, now))
    if (!isRenewed) throw new Problem('unauthenticated', 'The session has ended. Sign in again.')
    const entry = insertPersonalEntry(userId, {
      createdAt: now,
      action: 'user.verified',
      subject: passkey.credentialId,
    })
    await transaction.commit([entry])
    return counted
  })
  await checkCounter(ctx, { outcome, passkey, counter, code: 'passkey_counter_went_back' })
  if (outcome === 'passkey_removed') throw problem('passkey_unknown')
  return { session: renewed, secret }
}
