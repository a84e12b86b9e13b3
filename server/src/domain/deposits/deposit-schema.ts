import { Type, type Static } from 'typebox'
import { isoTime, usdc } from '../../values/schema-fields.ts'

/** A deposit as events and the dashboard show it. */
export const DepositSchema = Type.Object(
  {
    id: Type.String(),
    wallet: Type.String({ description: 'The wallet that received it, an EVM address.' }),
    from: Type.String({ description: 'Sender, an EVM address.' }),
    amount_usdc: usdc('What arrived.'),
    tx_hash: Type.String({ description: 'On-chain transaction hash.' }),
    block_number: Type.Integer(),
    created_at: isoTime('When it was found, at the confirmation depth.'),
  },
  { description: 'With `inbound.received`.' },
)

export type PublicDeposit = Static<typeof DepositSchema>
