import { Type } from 'typebox'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../domain/events/event.ts'
import { BeforeQuery, ModeQuery, NameBody, PasskeyBody, SlugParams } from './schemas.ts'

/** What is asked of a workspace's wallets, recipients, keys and logs. */

const ADDRESS_CHARS_MAX = 100

const { mode } = ModeQuery.properties
const { before } = BeforeQuery.properties
const { name } = NameBody.properties
const { slug } = SlugParams.properties
const credentialId = PasskeyBody.properties.response.properties.id
const address = Type.String({ minLength: 1, maxLength: ADDRESS_CHARS_MAX })

export const ModeBody = Type.Object({ mode })
export const ModeNameBody = Type.Object({ mode, name })
export const WalletBody = Type.Object({ mode, name, credential_id: Type.Optional(credentialId) })
export const RecipientBody = Type.Object({ mode, address, label: name })
export const OptionalModeQuery = Type.Object({ mode: Type.Optional(mode) })
export const DepositsQuery = Type.Object({ mode, wallet: Type.Optional(address), before })
export const EventsQuery = Type.Object({
  mode,
  type: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
  before,
})
export const SlugAddressParams = Type.Object({ slug, address: Type.String() })
