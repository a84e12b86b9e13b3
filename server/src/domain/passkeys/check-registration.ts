import { verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { COSEALG, decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { NewPasskey } from './passkey.ts'

/** What passkeys may sign with, in the order in which they are asked for. */
export const ALGORITHMS = [COSEALG.ES256, COSEALG.EdDSA, COSEALG.RS256]

/** The values of `AuthenticatorTransport` (WebAuthn, section 5.8.4). */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
/** WebAuthn, section 7.1, step 25: 1023 bytes. */
const CREDENTIAL_ID_BYTES_MAX = 1_023
/** An RSA key of 8192 bits, and some. */
const PUBLIC_KEY_BYTES_MAX = 1_280

/**
 * Checks a new passkey's answer to the challenge (WebAuthn, section 7.1): challenge, origin, relying party, presence and
 * verification of the person. Anything else is 401 `passkey_invalid`.
 */
export async function checkRegistration(
  ctx: Pick<Context, 'relyingParty'>,
  { challenge, response }: { challenge: string; response: RegistrationResponseJSON },
): Promise<NewPasskey> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: ctx.relyingParty.origin,
      expectedRPID: ctx.relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    // Our pages are framed by nobody.
    if (!verified || decodeClientDataJSON(response.response.clientDataJSON).crossOrigin === true) {
      throw problem('passkey_invalid')
    }
    const { id, publicKey, counter } = registrationInfo.credential
    // The id that is kept is the one that was attested, which is what the browser calls it too.
    if (id !== response.id || Buffer.from(id, 'base64url').length > CREDENTIAL_ID_BYTES_MAX) {
      throw problem('passkey_invalid')
    }
    if (publicKey.length > PUBLIC_KEY_BYTES_MAX) throw problem('passkey_invalid')
    const told: unknown = response.response.transports
    const transports = TRANSPORTS.filter((transport) => Array.isArray(told) && told.includes(transport))
    return { credentialId: id, publicKeyCose: Buffer.from(publicKey), counter, transports }
  } catch (error) {
    throw error instanceof Problem ? error : problem('passkey_invalid', { cause: error })
  }
}
