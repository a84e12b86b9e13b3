import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { checkRegistration } from '../passkeys/check-registration.ts'
import { takeCeremony } from '../passkeys/take-ceremony.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { addWalletPasskey } from './add-wallet-passkey.ts'
import { WALLET_PASSKEY_ALGORITHMS } from './open-wallet-passkey-registration.ts'
import type { WalletPasskey } from './wallet.ts'

/**
 * Adds a wallet passkey that the signer page has just created. It owns nothing yet. Checks again that the proof is
 * recent: somebody who stole the session after the registration began must not add a passkey of their own.
 *
 * Errors: 400 for a name that is not allowed, `ceremony_expired`; 401 `passkey_invalid`, also for a key that is not
 * ES256; 403 `verification_required`; 409 `signer_not_configured`, `passkey_exists`, `passkey_limit_reached`.
 */
export async function registerWalletPasskey(
  ctx: Pick<Context, 'db' | 'clock' | 'signer'>,
  {
    session,
    ceremony,
    response,
    name: text,
  }: { session: SignedInUser; ceremony: string; response: RegistrationResponseJSON; name: string },
): Promise<WalletPasskey> {
  const name = checkName(text)
  requireRecentProof(session, ctx.clock.now())
  if (ctx.signer === null) throw problem('signer_not_configured')
  const { userId } = session
  const { challenge } = await takeCeremony(ctx, { secret: ceremony, kind: 'wallet_passkey', userId })
  const asked = { challenge, response, algorithms: WALLET_PASSKEY_ALGORITHMS }
  const registered = await checkRegistration({ relyingParty: ctx.signer }, asked)
  const { attestationObject, clientDataJSON } = response.response
  const registration = { attestationObject, clientDataJSON }
  return await addWalletPasskey(ctx, { userId, registered, registration, name })
}
