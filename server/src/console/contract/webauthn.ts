import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { Type } from 'typebox'

/** What a browser's passkey API takes and returns (Web Authentication, section 5). */

const CREDENTIAL_ID_CHARS_MAX = 1_364
const CLIENT_DATA_CHARS_MAX = 4_096
const AUTHENTICATOR_DATA_CHARS_MAX = 8_192
/** It may contain a chain of certificates. */
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
const Authentication = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARS_MAX),
    authenticatorData: base64url(AUTHENTICATOR_DATA_CHARS_MAX),
    signature: base64url(SIGNATURE_CHARS_MAX),
    userHandle: Type.Optional(base64url(USER_HANDLE_CHARS_MAX)),
  }),
})

export const RegistrationBody = Type.Object({ response: Registration })
export const AuthenticationBody = Type.Object({ response: Authentication })

/** The options are the standard's, not ours: they are sent whole, whatever members a version of the library adds. */
export const CreationOptions = Type.Object({ options: Type.Unsafe<PublicKeyCredentialCreationOptionsJSON>({}) })
export const RequestOptions = Type.Object({ options: Type.Unsafe<PublicKeyCredentialRequestOptionsJSON>({}) })
