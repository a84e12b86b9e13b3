import { randomBytes } from 'node:crypto'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { checkName } from '../../values/name.ts'
import type { Context } from '../context.ts'
import { makeRegistrationOptions } from './make-registration-options.ts'
import { openCeremony } from './open-ceremony.ts'
import { USER_HANDLE_BYTES } from './user.ts'

/** Begins a sign-up (D46): what the browser asks a new passkey for. A bad name is 400. */
export async function openSignUp(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { name: text }: { name: string },
): Promise<{ ceremony: string; options: PublicKeyCredentialCreationOptionsJSON }> {
  const name = checkName(text)
  const userHandle = randomBytes(USER_HANDLE_BYTES)
  const options = await makeRegistrationOptions(ctx, { name, userHandle, passkeys: [] })
  const ceremony = await openCeremony(ctx, {
    kind: 'sign_up',
    challenge: options.challenge,
    userId: null,
    applicant: { name, userHandle: userHandle.toString('base64url') },
  })
  return { ceremony, options }
}
