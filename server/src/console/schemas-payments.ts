import { Type } from 'typebox'
import { MODES } from '../values/mode.ts'

/** The queries of what is told of payments. Every text has its bound. */

const AGENT_ID_CHARS_MAX = 256
const ADDRESS_CHARS_MAX = 64
const ID_CHARS_MAX = 64
const TIME_CHARS_MAX = 35
/** A memo has 200 characters, each of which may be two of JavaScript's. */
const SEARCH_CHARS_MAX = 400

const STATUSES = ['pending', 'confirmed', 'failed'] as const
const RANGES = ['24h', '7d', '30d'] as const

const mode = Type.Enum([...MODES])
const agent = Type.Optional(Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX }))
const before = Type.Optional(Type.String({ maxLength: ID_CHARS_MAX }))
const time = Type.Optional(Type.String({ maxLength: TIME_CHARS_MAX }))

const filter = {
  mode,
  agent,
  wallet: Type.Optional(Type.String({ maxLength: ADDRESS_CHARS_MAX })),
  status: Type.Optional(Type.Enum([...STATUSES])),
  q: Type.Optional(Type.String({ maxLength: SEARCH_CHARS_MAX })),
  from: time,
  to: time,
}

export const PaymentExportQuery = Type.Object(filter)
export const PaymentsQuery = Type.Object({ ...filter, before })
export const RefusalsQuery = Type.Object({ mode, agent, before })
export const OverviewQuery = Type.Object({ mode, range: Type.Enum([...RANGES]) })
