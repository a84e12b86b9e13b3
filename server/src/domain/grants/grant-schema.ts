import { Type, type Static } from 'typebox'
import { isoTime, list, nullable, oneOf, usdc } from '../../values/schema-fields.ts'
import { GRANT_STATUSES } from './grant.ts'

/** A grant as events show it. The dashboard shows more of it. */
export const GrantSchema = Type.Object(
  {
    id: Type.String(),
    agent_id: Type.String(),
    wallet: Type.String({ description: 'EVM address.' }),
    max_per_tx_usdc: usdc('Per-transaction maximum.'),
    daily_cap_usdc: usdc('Cap over any 24 hours.'),
    recipient_allowlist: list(Type.String(), { description: 'Empty: any recipient.' }),
    contract_allowlist: list(Type.String()),
    expires_at: nullable(isoTime('When the grant ends.')),
    status: oneOf(GRANT_STATUSES),
    created_at: isoTime('When it was opened.'),
    activated_at: nullable(isoTime("When the owner's signature took effect.")),
    suspended_at: nullable(isoTime('When it was suspended.')),
    revoked_at: nullable(isoTime('When it was revoked.')),
  },
  { description: 'With `permission.granted` and `permission.revoked`: the grant as it then was.' },
)

export type PublicGrant = Static<typeof GrantSchema>
