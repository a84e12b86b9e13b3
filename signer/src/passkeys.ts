import { toBase64, toBase64Url, type Bytes } from './bytes.ts'
import type { Credential as KnownCredential } from './find-record.ts'
import { Refusal } from './refusal.ts'
import type { CreationOptions } from './read-message.ts'
import type { Assertion } from './verify-assertion.ts'

const TIMEOUT_MS = 5 * 60_000
const USER_ID_BYTES = 32

/** `AuthenticationResponseJSON` (WebAuthn, section 5.1). */
export interface AssertionJson {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly clientExtensionResults: Record<string, never>
  readonly response: Assertion
}

/** `RegistrationResponseJSON` (WebAuthn, section 5.1). */
export interface RegistrationJson {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly clientExtensionResults: Record<string, never>
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports: readonly string[]
  }
}

/** Asks one of the passkeys to sign these bytes. Returns null if the person declines. */
export async function signWithPasskey(
  payload: Bytes,
  credentials: readonly KnownCredential[],
): Promise<AssertionJson | null> {
  const credential = await decline(
    navigator.credentials.get({
      publicKey: {
        challenge: payload,
        rpId: location.hostname,
        allowCredentials: credentials.map(({ rawId }) => ({ type: 'public-key', id: rawId })),
        userVerification: 'required',
        timeout: TIMEOUT_MS,
      },
    }),
  )
  if (!(credential instanceof PublicKeyCredential)) return null
  const { response } = credential
  if (!(response instanceof AuthenticatorAssertionResponse)) return null
  const { authenticatorData, clientDataJSON, signature } = response
  return {
    id: credential.id,
    rawId: credential.id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      authenticatorData: encode(authenticatorData),
      clientDataJSON: encode(clientDataJSON),
      signature: encode(signature),
    },
  }
}

/**
 * Creates a passkey for this page's site. Returns it with its public key (base64 SPKI), or null if the person declines.
 */
export async function createPasskey(
  options: CreationOptions,
): Promise<{ registration: RegistrationJson; publicKey: string } | null> {
  if (options.rpId !== location.hostname) {
    throw new Refusal('message_invalid', `The passkey is meant for ${options.rpId}, which is not this page.`)
  }
  const credential = await decline(
    navigator.credentials.create({
      publicKey: {
        rp: { id: options.rpId, name: options.rpName },
        // An authenticator replaces a passkey that has the same user id. With a random user id, no passkey is replaced.
        user: { ...options.user, id: crypto.getRandomValues(new Uint8Array(USER_ID_BYTES)) },
        challenge: options.challenge,
        // ES256 only (RFC 9053, section 2.1): the enclave verifies no other signatures.
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        excludeCredentials: options.excludeIds.map((id) => ({ type: 'public-key', id })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        attestation: 'none',
        timeout: TIMEOUT_MS,
      },
    }),
  )
  if (!(credential instanceof PublicKeyCredential)) return null
  const { response } = credential
  if (!(response instanceof AuthenticatorAttestationResponse)) return null
  const publicKey = response.getPublicKey()
  if (publicKey === null)
    throw new Refusal('passkey_invalid', 'The browser did not return the public key of the passkey.')
  return {
    publicKey: toBase64(new Uint8Array(publicKey)),
    registration: {
      id: credential.id,
      rawId: credential.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: encode(response.clientDataJSON),
        attestationObject: encode(response.attestationObject),
        transports: response.getTransports(),
      },
    },
  }
}

/** Returns null if the person canceled, or took too long. */
async function decline(asked: Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return null
    if (error instanceof DOMException && error.name === 'InvalidStateError') {
      throw new Refusal('passkey_exists', 'This device already has a wallet passkey of yours.')
    }
    throw error
  }
}

function encode(buffer: ArrayBuffer): string {
  return toBase64Url(new Uint8Array(buffer))
}
