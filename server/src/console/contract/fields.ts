import { Type, type Static } from 'typebox'
import { ROLES } from '../../values/role.ts'
import { NAME_CHARS_MAX } from '../../values/limits.ts'
import { MODES } from '../../values/mode.ts'

/**
 * The parts of schemas that several endpoints share. Every text that we accept has a maximum length, far above that of
 * any valid value. The parsers behind the schemas decide what is valid, because their error messages are better than
 * those of the schemas.
 */

export const AGENT_ID_CHARS_MAX = 256
export const ADDRESS_CHARS_MAX = 100
export const TIME_CHARS_MAX = 35
const TIME_ZONE_CHARS_MAX = 64
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

export const timeZone = Type.String({ minLength: 1, maxLength: TIME_ZONE_CHARS_MAX })

export const ModeQuery = Type.Object({ mode })
export const ModeBody = Type.Object({ mode })
export const NameBody = Type.Object({ name })
export const EmptyBody = Type.Object({})
/** The response of an endpoint that returns no data. */
export const Empty = Type.Object({})

const text = Type.String()
export const IdParams = Type.Object({ id: text })
export const SlugParams = Type.Object({ slug: text })
export const SlugIdParams = Type.Object({ slug: text, id: text })
export const SlugAddressParams = Type.Object({ slug: text, address: text })

/**
 * The value of `before` with which the caller gets the next, older page; null after the last page. A page may be empty
 * and still have a `next`.
 */
export const next = Type.Union([Type.String(), Type.Null()])
