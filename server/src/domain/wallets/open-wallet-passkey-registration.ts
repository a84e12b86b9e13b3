import { randomBytes } from 'node:crypto'
import { COSEALG } from '@simplewebauthn/server/helpers'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { makeRegistrationOptions } from '../passkeys/make-registration-options.ts'
import { openCeremony } from '../passkeys/open-ceremony.ts'
import { findUser } from '../passkeys/passkeys-store.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { WALLET_PASSKEYS_MAX } from './wallet.ts'
import { listWalletPasskeyRows } from './wallet-passkeys-store.ts'

/** The enclave verifies only ES256 signatures. */
export const WALLET_PASSKEY_ALGORITHMS = [COSEALG.ES256]
const USER_HANDLE_BYTES = 32

/**
 * Starts the registration of a wallet passkey. Returns the options for the signer page.
 *
 * The user handle is new for each registration, because an authenticator replaces a passkey of the same site and user
 * handle, and the replaced passkey may own wallets.
 *
 * Errors: 403 `verification_required`; 409 `signer_not_configured`, `passkey_limit_reached`.
 */
export async function openWalletPasskeyRegistration(
  ctx: Pick<Context, 'db' | 'clock' | 'signer'>,
  { session }: { session: SignedInUser },
): Promise<{ ceremony: string; options: PublicKeyCredentialCreationOptionsJSON }> {
  requireRecentProof(session, ctx.clock.now())
  if (ctx.signer === null) throw problem('signer_not_configured')
  const { userId } = session
  const [user, owned] = await ctx.db.read([findUser(userId), listWalletPasskeyRows(userId)])
  if (user === null) throw new Error(`user ${userId} does not exist`)
  if (owned.length >= WALLET_PASSKEYS_MAX) throw problem('passkey_limit_reached')
  const options = await makeRegistrationOptions(
    { relyingParty: ctx.signer },
    {
      name: user.name,
      userHandle: randomBytes(USER_HANDLE_BYTES),
      passkeys: owned.map(({ passkey }) => passkey),
      algorithms: WALLET_PASSKEY_ALGORITHMS,
    },
  )
  const { challenge } = options
  const ceremony = await openCeremony(ctx, { kind: 'wallet_passkey', challenge, userId, applicant: null })
  return { ceremony, options }
}
