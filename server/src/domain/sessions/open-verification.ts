import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Context } from '../context.ts'
import { CEREMONY_MS } from '../passkeys/ceremony.ts'
import { listPasskeyRows } from '../passkeys/passkeys-store.ts'
import { openCeremony } from '../passkeys/open-ceremony.ts'
import type { Session } from './session.ts'

/**
 * Starts a verification that the user of a session is present. Returns the options with which the browser asks for one
 * of the user's passkeys.
 */
export async function openVerification(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { session: { userId } }: { session: Session },
): Promise<{ ceremony: string; options: PublicKeyCredentialRequestOptionsJSON }> {
  const passkeys = await ctx.db.read(listPasskeyRows(userId))
  const options = await generateAuthenticationOptions({
    rpID: ctx.relyingParty.id,
    userVerification: 'required',
    timeout: CEREMONY_MS,
    allowCredentials: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
  })
  const { challenge } = options
  const ceremony = await openCeremony(ctx, { kind: 'verification', challenge, userId, applicant: null })
  return { ceremony, options }
}
