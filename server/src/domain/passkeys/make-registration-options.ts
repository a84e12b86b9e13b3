import { generateRegistrationOptions, type PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import type { Context } from '../context.ts'
import { CEREMONY_MS } from './ceremony.ts'
import { ALGORITHMS } from './check-registration.ts'
import type { Passkey } from './passkey.ts'

const RELYING_PARTY_NAME = 'Bursar'

/**
 * Returns the options with which a browser registers a passkey. The passkey must be discoverable, so that users can
 * sign in without typing a name. It must also verify its user, for example with a fingerprint or a PIN.
 */
export async function makeRegistrationOptions(
  ctx: Pick<Context, 'relyingParty'>,
  {
    name,
    userHandle,
    passkeys,
    algorithms = ALGORITHMS,
  }: {
    name: string
    userHandle: Buffer
    passkeys: readonly Pick<Passkey, 'credentialId'>[]
    /** COSE algorithm identifiers, the preferred one first. */
    algorithms?: number[]
  },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  return await generateRegistrationOptions({
    rpName: RELYING_PARTY_NAME,
    rpID: ctx.relyingParty.id,
    userName: name,
    userDisplayName: name,
    userID: Uint8Array.from(userHandle),
    timeout: CEREMONY_MS,
    attestationType: 'none',
    excludeCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  })
}
