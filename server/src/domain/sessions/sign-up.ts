import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { violatesUnique } from '../../db/errors.ts'
import { createId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { checkRegistration } from '../passkeys/check-registration.ts'
import { insertPasskey, insertRecoveryCodes, insertUser, PASSKEY_INDEX } from '../passkeys/passkeys-store.ts'
import { makeRecoveryCodes } from '../passkeys/issue-recovery-codes.ts'
import { issueSession, type IssuedSession } from './issue-session.ts'
import { FIRST_PASSKEY_NAME } from '../passkeys/passkey.ts'
import { takeCeremony } from '../passkeys/take-ceremony.ts'

/**
 * Creates a user from the registration of their first passkey, signs them in, and returns recovery codes that are shown
 * once (D46). The audit log records the sign-up when the user first joins a workspace (`recordFirstWorkspace`).
 *
 * Errors: 400 `ceremony_expired`; 401 `passkey_invalid`; 409 `passkey_exists`.
 */
export async function signUp(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { ceremony, response, device }: { ceremony: string; response: RegistrationResponseJSON; device: string },
): Promise<IssuedSession & { recoveryCodes: string[] }> {
  const { challenge, applicant } = await takeCeremony(ctx, { secret: ceremony, kind: 'sign_up' })
  if (applicant === null) throw new Error('the sign-up ceremony has no applicant')
  const passkey = await checkRegistration(ctx, { challenge, response })
  const now = ctx.clock.now()
  const user = {
    id: createId('user', now),
    name: applicant.name,
    userHandle: Buffer.from(applicant.userHandle, 'base64url'),
    createdAt: now,
  }
  const { issued, queries } = issueSession({ userId: user.id, userName: user.name, device }, now)
  const { codes, hashes } = makeRecoveryCodes()
  try {
    await ctx.db.transaction((transaction) =>
      transaction.commit([
        insertUser(user),
        insertPasskey({ ...passkey, userId: user.id, name: FIRST_PASSKEY_NAME, createdAt: now, lastUsedAt: now }),
        insertRecoveryCodes(user.id, hashes, now),
        ...queries,
      ]),
    )
  } catch (error) {
    if (violatesUnique(error, PASSKEY_INDEX)) throw problem('passkey_exists')
    throw error
  }
  return { ...issued, recoveryCodes: codes }
}
