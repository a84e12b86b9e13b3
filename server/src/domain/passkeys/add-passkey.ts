import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { violatesUnique } from '../../db/errors.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { checkRegistration } from './check-registration.ts'
import { countPasskeys, insertPasskey, lockUser, PASSKEY_INDEX } from './passkeys-store.ts'
import { PASSKEYS_MAX, type Passkey } from './passkey.ts'
import { takeCeremony } from './take-ceremony.ts'

/**
 * Adds a passkey that the browser has just registered. Checks again that the user has recently proved their presence
 * (D59). Otherwise, somebody who stole the session after the registration began could add a passkey of their own.
 *
 * Errors: 400 for a name that is not allowed, `ceremony_expired`; 401 `passkey_invalid`; 403 `verification_required`;
 * 409 `passkey_exists`, `passkey_limit_reached` (exact even if passkeys are added concurrently).
 */
export async function addPasskey(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  {
    session,
    ceremony,
    response,
    name: text,
  }: { session: SignedInUser; ceremony: string; response: RegistrationResponseJSON; name: string },
): Promise<Passkey> {
  const name = checkName(text)
  requireRecentProof(session, ctx.clock.now())
  const { userId } = session
  const { challenge } = await takeCeremony(ctx, { secret: ceremony, kind: 'passkey', userId })
  const registered = await checkRegistration(ctx, { challenge, response })
  const now = ctx.clock.now()
  const passkey = { ...registered, userId, name, createdAt: now, lastUsedAt: null }
  try {
    await ctx.db.transaction(async (transaction) => {
      const [, count] = await transaction.batch([lockUser(userId), countPasskeys(userId)])
      if (count >= PASSKEYS_MAX) throw problem('passkey_limit_reached')
      const entry = insertPersonalEntry(userId, {
        createdAt: now,
        action: 'passkey.added',
        subject: passkey.credentialId,
        details: { name },
      })
      await transaction.commit([insertPasskey(passkey), entry])
    })
  } catch (error) {
    if (violatesUnique(error, PASSKEY_INDEX)) throw problem('passkey_exists')
    throw error
  }
  return passkey
}
