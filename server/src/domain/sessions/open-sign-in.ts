import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Context } from '../context.ts'
import { CEREMONY_MS } from '../passkeys/ceremony.ts'
import { openCeremony } from '../passkeys/open-ceremony.ts'

/**
 * Starts a sign-in (D46) and returns the options for the browser. The options name no user and no passkey, so they do
 * not reveal who has signed up.
 */
export async function openSignIn(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
): Promise<{ ceremony: string; options: PublicKeyCredentialRequestOptionsJSON }> {
  const options = await generateAuthenticationOptions({
    rpID: ctx.relyingParty.id,
    userVerification: 'required',
    timeout: CEREMONY_MS,
  })
  const { challenge } = options
  const ceremony = await openCeremony(ctx, { kind: 'sign_in', challenge, userId: null, applicant: null })
  return { ceremony, options }
}
