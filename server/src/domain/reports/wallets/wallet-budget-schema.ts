import { Type, type Static } from 'typebox'
import { isoTime, ModeSchema, orNull, oneOf, usdc } from '../../../values/schema-fields.ts'
import { AGENT_STATES } from '../../agents/agent-state.ts'

/** The states of the grants that are listed: those that are not revoked. */
const LISTED_STATES = AGENT_STATES.filter((state) => state !== 'no_grant')

const GrantBudgetSchema = Type.Object({
  grant_id: Type.String(),
  agent_id: Type.String({ description: 'The agent that may spend from the wallet.' }),
  state: oneOf(LISTED_STATES, {
    description:
      'The agent can pay only while this is `active`. `pending`: the owner of the wallet has not signed the grant yet. `suspended`: the workspace has stopped the agent for now. `expired`: the end date has passed.',
  }),
  max_per_tx_usdc: usdc('The per-payment limit.'),
  daily_cap_usdc: usdc('The 24-hour limit: the most that the agent may spend in any 24 hours.'),
  spent_24h_usdc: usdc('What this agent spent from this wallet in the last 24 hours, pending payments included.'),
  remaining_24h_usdc: usdc('What remains of the 24-hour limit now. `0` unless the state is `active`.'),
  recipients: Type.Array(
    Type.Object({
      address: Type.String({ description: 'The address, with its EIP-55 checksum.' }),
      label: orNull(Type.String({ description: "The workspace's label for the address. Null if it has none." })),
    }),
    { description: 'The recipients that the grant allows. An empty list allows any recipient.' },
  ),
  expires_at: orNull(isoTime('When the grant expires. Null if it has no end date.')),
  x402: Type.Boolean({ description: 'Whether the grant allows purchases (x402 and MPP).' }),
})

/** The schema of a wallet, with what agents may spend from it, in responses of `/v1`. */
export const WalletBudgetSchema = Type.Object(
  {
    address: Type.String({ description: 'The EVM address of the wallet, with its EIP-55 checksum.' }),
    name: Type.String({ description: 'The name that the workspace has given to the wallet.' }),
    mode: ModeSchema,
    balance_usdc: orNull(
      usdc(
        'The USDC of the wallet on the chain, at most 15 seconds old. Pending payments may still be included. Null if the chain could not be reached.',
      ),
    ),
    grants: Type.Array(GrantBudgetSchema, {
      description:
        'The grants on this wallet that are not revoked. If the credential is bound to an agent, only those of this agent.',
    }),
  },
  { $id: 'Wallet', title: 'Wallet' },
)

export type PublicWalletBudget = Static<typeof WalletBudgetSchema>
