import { Type, type Static } from 'typebox'
import { isoTime, nullable, oneOf, usdc } from '../../values/schema-fields.ts'
import { PAYMENT_STATUSES } from './payment.ts'

/** A payment as `/v1`, events and the dashboard show it. */
export const PaymentSchema = Type.Object(
  {
    id: Type.String({ description: '`pay_` and 26 characters that sort by time of creation.' }),
    status: oneOf(PAYMENT_STATUSES, { description: '`pending` until the chain confirms.' }),
    tx_hash: nullable(Type.String({ description: 'On-chain transaction hash.' })),
    amount_usdc: usdc('As it was requested.'),
    to: Type.String({ description: 'Recipient, with its EIP-55 checksum.' }),
    from: Type.String({ description: 'Sender wallet, with its EIP-55 checksum.' }),
    memo: nullable(Type.String()),
    idempotency_key: nullable(Type.String()),
    created_at: isoTime('Record creation time.'),
  },
  { $id: 'Payment', title: 'Payment' },
)

export type PublicPayment = Static<typeof PaymentSchema>
