import { Type, type Static } from 'typebox'
import { isoTime, list, orNull, oneOf, usdc } from '../../values/schema-fields.ts'
import { GRANT_STATUSES } from './grant.ts'

/** The schema of a grant in events. The dashboard shows more fields. */
export const GrantSchema = Type.Object(
  {
    id: Type.String({ description: '`grt_` and 26 characters that sort by time of creation.' }),
    agent_id: Type.String({ description: 'The agent that may pay.' }),
    wallet: Type.String({ description: 'The EVM address of the wallet.' }),
    max_per_tx_usdc: usdc('The per-payment limit.'),
    daily_cap_usdc: usdc('The 24-hour limit: the most that the agent may spend in any 24 hours.'),
    recipient_allowlist: list(Type.String(), {
      description: 'The recipients that the grant allows. An empty list allows any recipient.',
    }),
    contract_allowlist: list(Type.String(), { description: 'The token contracts that the grant allows.' }),
    expires_at: orNull(isoTime('When the grant expires. Null if it has no end date.')),
    x402: Type.Boolean({ description: 'Whether the grant allows purchases (x402 and MPP).' }),
    status: oneOf(GRANT_STATUSES, {
      description: '`pending` until the owner has signed the grant, then `active`, and finally `revoked`.',
    }),
    created_at: isoTime('When the grant was created.'),
    activated_at: orNull(isoTime("When the signature of the wallet's owner took effect.")),
    suspended_at: orNull(isoTime('Since when the grant is suspended. Null if it is not.')),
    revoked_at: orNull(isoTime('When the grant was revoked.')),
  },
  { description: 'The grant at the time of the event.' },
)

export type PublicGrant = Static<typeof GrantSchema>
