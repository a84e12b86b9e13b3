import { Type, type Static } from 'typebox'
import { isoTime, ModeSchema, orNull, oneOf, usdc } from '../../values/schema-fields.ts'

const SpendableWalletSchema = Type.Object({
  address: Type.String({ description: 'The EVM address of the wallet.' }),
  max_per_tx_usdc: usdc('The per-payment limit.'),
  daily_cap_usdc: usdc('The 24-hour limit: the most that the agent may spend in any 24 hours.'),
  spent_24h_usdc: usdc('What this agent spent from this wallet in the last 24 hours.'),
  remaining_24h_usdc: usdc('What remains of the 24-hour limit now.'),
  expires_at: orNull(isoTime('When the grant expires. Null if it has no end date.')),
})

/** The schema of an agent, with what it may spend now, in responses of `/v1`. */
export const AgentSchema = Type.Object(
  {
    id: Type.String({ description: 'The id that you chose, 1 to 64 characters. Unique in the workspace and mode.' }),
    status: oneOf(['no_permissions', 'active'], {
      description: '`active` if the agent has at least one signed grant that is not revoked.',
    }),
    mode: ModeSchema,
    created_at: isoTime('When the agent was created.'),
    active_signers: Type.Integer({
      description:
        'How many signed grants the agent has that are not revoked, on all wallets. Suspended and expired grants count.',
    }),
    pending_signers: Type.Integer({
      description: "How many grants of the agent await the signature of the wallet's owner.",
    }),
    account_slug: Type.String({ description: 'The slug of the workspace.' }),
    wallets: Type.Array(SpendableWalletSchema, {
      description: 'One entry for each grant under which the agent can pay now.',
    }),
  },
  { $id: 'Agent', title: 'Agent' },
)

export type PublicAgent = Static<typeof AgentSchema>
