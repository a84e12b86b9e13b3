import { Type, type Static } from 'typebox'
import { isoTime, ModeSchema, nullable, oneOf, usdc } from '../../values/schema-fields.ts'

const SpendableWalletSchema = Type.Object({
  address: Type.String({ description: 'EVM address.' }),
  max_per_tx_usdc: usdc('Per-transaction maximum.'),
  daily_cap_usdc: usdc('Cap over any 24 hours.'),
  spent_24h_usdc: usdc('Spent by this agent from this wallet in the last 24 hours.'),
  remaining_24h_usdc: usdc('Left of the cap now.'),
  expires_at: nullable(isoTime('When the grant ends.')),
})

/** An agent and what it may spend now, as `/v1` shows it. */
export const AgentSchema = Type.Object(
  {
    id: Type.String({ description: 'Your identifier, 1 to 64 characters; unique within (account, mode).' }),
    status: oneOf(['no_permissions', 'active'], {
      description: '`active` once at least one wallet has authorized the agent.',
    }),
    mode: ModeSchema,
    created_at: isoTime('Registration time.'),
    active_signers: Type.Integer({ description: 'Activated, non-revoked signers across all wallets.' }),
    pending_signers: Type.Integer({ description: "Signers awaiting the wallet owner's passkey signature." }),
    account_slug: Type.String({ description: 'Slug of the owning account.' }),
    wallets: Type.Array(SpendableWalletSchema, { description: 'One entry for each grant that can be spent from now.' }),
  },
  { $id: 'Agent', title: 'Agent' },
)

export type PublicAgent = Static<typeof AgentSchema>
