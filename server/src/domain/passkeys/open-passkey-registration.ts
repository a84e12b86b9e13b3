import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { findUser, listPasskeyRows } from './passkeys-store.ts'
import { makeRegistrationOptions } from './make-registration-options.ts'
import { openCeremony } from './open-ceremony.ts'
import { PASSKEYS_MAX } from './passkey.ts'

/**
 * Starts the registration of another passkey. Returns the options for the browser.
 *
 * Errors: 403 `verification_required`; 409 `passkey_limit_reached`.
 */
export async function openPasskeyRegistration(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { session }: { session: SignedInUser },
): Promise<{ ceremony: string; options: PublicKeyCredentialCreationOptionsJSON }> {
  requireRecentProof(session, ctx.clock.now())
  const { userId } = session
  const [user, passkeys] = await ctx.db.read([findUser(userId), listPasskeyRows(userId)])
  if (user === null) throw new Error(`user ${userId} does not exist`)
  if (passkeys.length >= PASSKEYS_MAX) throw problem('passkey_limit_reached')
  const options = await makeRegistrationOptions(ctx, { ...user, passkeys })
  const { challenge } = options
  const ceremony = await openCeremony(ctx, { kind: 'passkey', challenge, userId, applicant: null })
  return { ceremony, options }
}
