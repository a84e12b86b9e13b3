import { Type } from 'typebox'
import { ROLES } from '../domain/people/role.ts'
import { MODES } from '../values/mode.ts'

/** The bodies of the dashboard's endpoints. Every text has its bound; unknown members are ignored (D4). */

const CREDENTIAL_ID_CHARS_MAX = 1_364
const CLIENT_DATA_CHARS_MAX = 4_096
const AUTHENTICATOR_DATA_CHARS_MAX = 8_192
/** May hold a chain of certificates. */
const ATTESTATION_CHARS_MAX = 32_768
const SIGNATURE_CHARS_MAX = 2_048
const USER_HANDLE_CHARS_MAX = 128
const TRANSPORTS_MAX = 16
const TRANSPORT_CHARS_MAX = 32
const NAME_CHARS_MAX = 100
const SECRET_CHARS_MAX = 200
const AGENT_ID_CHARS_MAX = 256

const base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
const name = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })
const secret = Type.String({ minLength: 1, maxLength: SECRET_CHARS_MAX })
const role = Type.Enum([...ROLES])
const mode = Type.Enum([...MODES])

const credential = {
  id: base64url(CREDENTIAL_ID_CHARS_MAX),
  rawId: base64url(CREDENTIAL_ID_CHARS_MAX),
  type: Type.Literal('public-key'),
}

/** `RegistrationResponseJSON` of WebAuthn, section 5.1, as far as it is looked at. */
const Registration = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARS_MAX),
    attestationObject: base64url(ATTESTATION_CHARS_MAX),
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: TRANSPORT_CHARS_MAX }), { maxItems: TRANSPORTS_MAX }),
    ),
  }),
})

/** `AuthenticationResponseJSON`, likewise. */
const Authentication = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARS_MAX),
    authenticatorData: base64url(AUTHENTICATOR_DATA_CHARS_MAX),
    signature: base64url(SIGNATURE_CHARS_MAX),
    userHandle: Type.Optional(base64url(USER_HANDLE_CHARS_MAX)),
  }),
})

export const EmptyBody = Type.Object({})
export const NameBody = Type.Object({ name })
export const RegistrationBody = Type.Object({ response: Registration })
export const PasskeyBody = Type.Object({ response: Registration, name })
export const AuthenticationBody = Type.Object({ response: Authentication })
export const RecoveryBody = Type.Object({ code: secret })
export const RoleBody = Type.Object({ role })
export const TokenBody = Type.Object({ token: secret })
export const AgentBody = Type.Object({ mode, id: Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX }) })
export const ModeQuery = Type.Object({ mode })
export const BeforeQuery = Type.Object({ before: Type.Optional(Type.String({ maxLength: SECRET_CHARS_MAX })) })

const text = Type.String()
export const IdParams = Type.Object({ id: text })
export const HandleParams = Type.Object({ handle: text })
export const SlugParams = Type.Object({ slug: text })
export const SlugIdParams = Type.Object({ slug: text, id: text })
export const SlugUserParams = Type.Object({ slug: text, user_id: text })
