import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { Problem, problem } from '../../values/problem.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { checkAssertion } from '../passkeys/check-assertion.ts'
import { advanceCounter } from '../passkeys/passkeys-store.ts'
import type { IssuedSession } from './issue-session.ts'
import type { Session } from './session.ts'
import { renewSession } from './sessions-store.ts'
import { takeCeremony } from '../passkeys/take-ceremony.ts'

/**
 * Records that the user of a session proved their presence. The session gets a new secret and the old one stops
 * working, so somebody who has stolen the old secret cannot use the newly verified session.
 *
 * Errors: 400 `ceremony_expired`; 401 `passkey_unknown`, `passkey_invalid` (also for another user's passkey), and
 * `unauthenticated` if the session has ended meanwhile.
 */
export async function verifySession(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { session, ceremony, response }: { session: Session; ceremony: string; response: AuthenticationResponseJSON },
): Promise<IssuedSession> {
  const { userId } = session
  const { challenge } = await takeCeremony(ctx, { secret: ceremony, kind: 'verification', userId })
  const { passkey, user, counter } = await checkAssertion(ctx, { challenge, response, mayOmitUser: true })
  if (user.id !== userId) throw problem('passkey_invalid')
  const now = ctx.clock.now()
  const secret = createSecret(SECRET_PREFIXES.session)
  const renewed = { ...session, secretHash: hashSecret(secret), verifiedAt: now, lastSeenAt: now }
  await ctx.db.transaction(async (transaction) => {
    const [isCounted, isRenewed] = await transaction.batch([
      advanceCounter(userId, passkey.credentialId, counter, now),
      renewSession(session.secretHash, renewed.secretHash, now),
    ])
    if (!isCounted) throw problem('passkey_invalid')
    if (!isRenewed) throw new Problem('unauthenticated', 'The session has ended. Sign in again.')
    const entry = insertPersonalEntry(userId, {
      createdAt: now,
      action: 'user.verified',
      subject: passkey.credentialId,
    })
    await transaction.commit([entry])
  })
  return { session: renewed, secret }
}
