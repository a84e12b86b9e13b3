import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { Type } from 'typebox'

/**
 * Schemas of the values that a browser's passkey API takes and returns (Web Authentication, section 5), with the
 * lengths that we accept.
 */

const CREDENTIAL_ID_CHARS_MAX = 1_364
const CLIENT_DATA_CHARS_MAX = 4_096
/** An owner's client data contains the whole request to the enclave, or the record of a wallet with all its slots. */
const OWNER_CLIENT_DATA_CHARS_MAX = 32_768
const AUTHENTICATOR_DATA_CHARS_MAX = 8_192
/** Long, because an attestation may contain a chain of certificates. */
const ATTESTATION_CHARS_MAX = 32_768
const SIGNATURE_CHARS_MAX = 2_048
const USER_HANDLE_CHARS_MAX = 128
const TRANSPORTS_MAX = 16
const TRANSPORT_CHARS_MAX = 32

const base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })

export const credentialId = base64url(CREDENTIAL_ID_CHARS_MAX)

const credential = { id: credentialId, rawId: credentialId, type: Type.Literal('public-key') }

/** The members of `RegistrationResponseJSON` that we read. */
export const Registration = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARS_MAX),
    attestationObject: base64url(ATTESTATION_CHARS_MAX),
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: TRANSPORT_CHARS_MAX }), { maxItems: TRANSPORTS_MAX }),
    ),
  }),
})

/** The members of `AuthenticationResponseJSON` that we read. */
export const Authentication = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARS_MAX),
    authenticatorData: base64url(AUTHENTICATOR_DATA_CHARS_MAX),
    signature: base64url(SIGNATURE_CHARS_MAX),
    userHandle: Type.Optional(base64url(USER_HANDLE_CHARS_MAX)),
  }),
})

/** The same members as `Authentication`, with the longer client data that an owner of a wallet signs. */
export const OwnerAuthentication = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(OWNER_CLIENT_DATA_CHARS_MAX),
    authenticatorData: base64url(AUTHENTICATOR_DATA_CHARS_MAX),
    signature: base64url(SIGNATURE_CHARS_MAX),
    userHandle: Type.Optional(base64url(USER_HANDLE_CHARS_MAX)),
  }),
})

export const RegistrationBody = Type.Object({ response: Registration })
export const AuthenticationBody = Type.Object({ response: Authentication })
export const OwnerAuthenticationBody = Type.Object({ response: OwnerAuthentication })

/**
 * The WebAuthn library makes the options, and the standard defines them. So the schema lets every member through,
 * including any that a new version of the library adds.
 */
export const CreationOptions = Type.Object({ options: Type.Unsafe<PublicKeyCredentialCreationOptionsJSON>({}) })
export const RequestOptions = Type.Object({ options: Type.Unsafe<PublicKeyCredentialRequestOptionsJSON>({}) })
