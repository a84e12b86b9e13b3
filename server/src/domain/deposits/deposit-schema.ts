import { Type, type Static } from 'typebox'
import { isoTime, usdc } from '../../values/schema-fields.ts'

/** The schema of a deposit in events and in the dashboard. */
export const DepositSchema = Type.Object(
  {
    id: Type.String({ description: '`dep_` and 26 characters that sort by time.' }),
    wallet: Type.String({ description: 'The EVM address of the wallet that received the deposit.' }),
    from: Type.String({ description: 'The EVM address of the sender.' }),
    amount_usdc: usdc('The received amount.'),
    tx_hash: Type.String({ description: 'The hash of the transaction on the chain.' }),
    block_number: Type.Integer({ description: 'The number of the block that contains the transaction.' }),
    created_at: isoTime('When the service found the deposit on the chain, at the confirmation depth.'),
  },
  { description: 'With `inbound.received`.' },
)

export type PublicDeposit = Static<typeof DepositSchema>
