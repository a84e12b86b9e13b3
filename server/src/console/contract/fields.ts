import { Type, type Static } from 'typebox'
import { ROLES } from '../../domain/members/role.ts'
import { MODES } from '../../values/mode.ts'

/**
 * The parts that several endpoints share. Every text that we accept has a limit. The limits are far above any valid value:
 * the parsers decide what is valid, and their messages are better.
 */

export const AGENT_ID_CHARS_MAX = 256
export const ADDRESS_CHARS_MAX = 100
export const TIME_CHARS_MAX = 35
const NAME_CHARS_MAX = 100
const SECRET_CHARS_MAX = 200

export const mode = Type.Enum([...MODES])
export const role = Type.Enum([...ROLES])
export type Mode = Static<typeof mode>
export type Role = Static<typeof role>

export const name = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })
export const secret = Type.String({ minLength: 1, maxLength: SECRET_CHARS_MAX })
export const id = Type.String({ maxLength: SECRET_CHARS_MAX })
export const agentId = Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX })
export const time = Type.String({ maxLength: TIME_CHARS_MAX })

export const ModeQuery = Type.Object({ mode })
export const ModeBody = Type.Object({ mode })
export const EmptyBody = Type.Object({})
/** The response of an endpoint that has nothing to say. */
export const Empty = Type.Object({})

const text = Type.String()
export const IdParams = Type.Object({ id: text })
export const SlugParams = Type.Object({ slug: text })
export const SlugIdParams = Type.Object({ slug: text, id: text })
export const SlugAddressParams = Type.Object({ slug: text, address: text })

/** What to ask for as `before` to get the older ones; null at the end. A page may be empty and still have a `next`. */
export const next = Type.Union([Type.String(), Type.Null()])
