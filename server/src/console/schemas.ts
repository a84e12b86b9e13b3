import { Type } from 'typebox'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../domain/events/event.ts'
import { ROLES } from '../domain/members/role.ts'
import { DELIVERY_STATUSES } from '../domain/webhooks/delivery.ts'
import { URL_CHARS_MAX } from '../domain/webhooks/endpoint.ts'
import { MODES } from '../values/mode.ts'

/** The bodies of the dashboard's endpoints. Every text has its bound; unknown members are ignored, since our own pages alone call them. */

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
const TIME_CHARS_MAX = 35

const base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
const name = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })
const secret = Type.String({ minLength: 1, maxLength: SECRET_CHARS_MAX })
const role = Type.Enum([...ROLES])
const mode = Type.Enum([...MODES])
const id = Type.String({ maxLength: SECRET_CHARS_MAX })
const time = Type.String({ maxLength: TIME_CHARS_MAX })
const webhookUrl = Type.String({ minLength: 1, maxLength: URL_CHARS_MAX })
const eventTypes = Type.Array(Type.Enum([...EVENT_TYPES]), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
})

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
/** The invitation's secret, where nobody signs up without one. */
export const SignUpBody = Type.Object({ name, invitation: Type.Optional(secret) })
export const RegistrationBody = Type.Object({ response: Registration })
export const PasskeyBody = Type.Object({ response: Registration, name })
export const AuthenticationBody = Type.Object({ response: Authentication })
export const RecoveryBody = Type.Object({ code: secret })
export const RoleBody = Type.Object({ role })
export const TokenBody = Type.Object({ token: secret })
export const AgentBody = Type.Object({ mode, id: Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX }) })
export const ModeQuery = Type.Object({ mode })
export const BeforeQuery = Type.Object({ before: Type.Optional(id) })
export const WebhookBody = Type.Object({ mode, url: webhookUrl, events: eventTypes })
export const WebhookChangeBody = Type.Partial(
  Type.Object({ url: webhookUrl, events: eventTypes, enabled: Type.Boolean() }),
)
export const ReplayBody = Type.Object({
  from: time,
  to: time,
  only: Type.Enum(['failed', 'all']),
})
export const DeliveriesQuery = Type.Object({
  mode,
  webhook: Type.Optional(id),
  type: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
  status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
  event: Type.Optional(id),
  from: Type.Optional(time),
  to: Type.Optional(time),
  before: Type.Optional(id),
})

const text = Type.String()
export const IdParams = Type.Object({ id: text })
export const HandleParams = Type.Object({ handle: text })
export const SlugParams = Type.Object({ slug: text })
export const SlugIdParams = Type.Object({ slug: text, id: text })
export const SlugUserParams = Type.Object({ slug: text, user_id: text })
