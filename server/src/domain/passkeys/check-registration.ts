import { verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { COSEALG, decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { NewPasskey } from './passkey.ts'

/** The signature algorithms that passkeys may use, the preferred one first. */
export const ALGORITHMS = [COSEALG.ES256, COSEALG.EdDSA, COSEALG.RS256]

/** The values of `AuthenticatorTransport` (WebAuthn, section 5.8.4). */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
/** The longest allowed credential id (WebAuthn, section 7.1, step 25). */
const CREDENTIAL_ID_BYTES_MAX = 1_023
/** The longest allowed public key. It is enough for an RSA key of 8,192 bits. */
const PUBLIC_KEY_BYTES_MAX = 1_280

/**
 * Verifies the registration of a new passkey (WebAuthn, section 7.1): challenge, origin, relying party, user presence
 * and verification. Throws 401 `passkey_invalid` if anything is wrong.
 */
export async function checkRegistration(
  ctx: Pick<Context, 'relyingParty'>,
  {
    challenge,
    response,
    algorithms = ALGORITHMS,
  }: { challenge: string; response: RegistrationResponseJSON; algorithms?: number[] },
): Promise<NewPasskey> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: ctx.relyingParty.origin,
      expectedRPID: ctx.relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    // No other site may embed our pages, so a cross-origin response is not genuine.
    if (!verified || decodeClientDataJSON(response.response.clientDataJSON).crossOrigin === true) {
      throw problem('passkey_invalid')
    }
    const { id, publicKey, counter } = registrationInfo.credential
    // The credential id in the verified data is stored. It must equal the credential id that the browser reports.
    if (id !== response.id || Buffer.from(id, 'base64url').length > CREDENTIAL_ID_BYTES_MAX) {
      throw problem('passkey_invalid')
    }
    if (publicKey.length > PUBLIC_KEY_BYTES_MAX) throw problem('passkey_invalid')
    const reported: unknown = response.response.transports
    const transports = TRANSPORTS.filter((transport) => Array.isArray(reported) && reported.includes(transport))
    return { credentialId: id, publicKeyCose: Buffer.from(publicKey), counter, transports }
  } catch (error) {
    throw error instanceof Problem ? error : problem('passkey_invalid', { cause: error })
  }
}
