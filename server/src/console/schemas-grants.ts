import { Type } from 'typebox'
import { GRANT_RECIPIENTS_MAX } from '../domain/grants/grant.ts'
import { MODES } from '../values/mode.ts'

/** What the endpoints of grants take. */

/** Far above what an amount, an address or a time can have: what they are is told by their parsers. */
const AMOUNT_CHARS_MAX = 100
const ADDRESS_CHARS_MAX = 100
const AGENT_ID_CHARS_MAX = 256
const TIME_CHARS_MAX = 35

const mode = Type.Enum([...MODES])
const amount = Type.String({ maxLength: AMOUNT_CHARS_MAX })
const address = Type.String({ maxLength: ADDRESS_CHARS_MAX })
const agentId = Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX })

const terms = {
  max_per_tx_usdc: amount,
  daily_cap_usdc: amount,
  /** Not to be left out: an empty one allows every recipient. */
  recipient_allowlist: Type.Array(address, { maxItems: GRANT_RECIPIENTS_MAX }),
  /** Likewise: null is for ever. */
  expires_at: Type.Union([Type.String({ maxLength: TIME_CHARS_MAX }), Type.Null()]),
}

export const TermsBody = Type.Object(terms)
export const GrantBody = Type.Object({ mode, agent_id: agentId, wallet: address, ...terms })
export const ChangeBody = Type.Object({ change: Type.Enum(['activate', 'revoke']) })
export const GrantsQuery = Type.Object({ mode, agent: Type.Optional(agentId), wallet: Type.Optional(address) })
