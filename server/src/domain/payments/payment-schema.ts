import { Type, type Static } from 'typebox'
import { isoTime, orNull, oneOf, usdc } from '../../values/schema-fields.ts'
import { FAILURE_CODES, PAYMENT_STATUSES } from './payment.ts'

/** The schema of an agent's payment, in responses of `/v1` and in events (D52). */
export const PaymentSchema = Type.Object(
  {
    id: Type.String({ description: '`pay_` and 26 characters that sort by time of creation.' }),
    kind: oneOf(['transfer', 'x402'], {
      description:
        '`transfer`: an agent sends USDC from a wallet to an address. `x402`: an agent pays for an HTTP resource.',
    }),
    agent_id: Type.String({ description: 'The agent that pays.' }),
    grant_id: Type.String({ description: 'The grant that allowed the payment.' }),
    status: oneOf(PAYMENT_STATUSES, {
      description: '`pending` until the chain confirms the payment, or until it has failed.',
    }),
    failure_code: orNull(
      oneOf(FAILURE_CODES, {
        description:
          'Why the payment failed. `enclave_refused`: the enclave refused to sign it. `never_received`: it did not ' +
          'reach the enclave in time, and is not sent any more. `reverted`: its transaction was reverted. ' +
          '`transfer_missing`: its transaction does not contain the transfer. `replaced`: another transaction of the ' +
          'wallet took its place. `authorization_expired`: the signed authorization of a purchase was not used, and can no ' +
          'longer be. `authorization_canceled`: it was canceled on the chain. Null unless the status is ' +
          '`failed`.',
      }),
    ),
    tx_hash: orNull(Type.String({ description: 'The hash of the transaction on the chain.' })),
    amount_usdc: usdc('The requested amount.'),
    to: Type.String({ description: 'The address of the recipient, with its EIP-55 checksum.' }),
    from: Type.String({ description: 'The address of the wallet that pays, with its EIP-55 checksum.' }),
    memo: orNull(Type.String({ description: 'The note of the request. Null if it had none.' })),
    idempotency_key: orNull(Type.String({ description: 'The key of the request. Null if it had none.' })),
    request_id: orNull(
      Type.String({
        description: 'The `Request-Id` of the request that created the payment. Null if it was not recorded.',
      }),
    ),
    created_at: isoTime('When the payment was created.'),
    confirmed_at: orNull(
      isoTime('When the service saw that the chain had confirmed the payment. Null unless the status is `confirmed`.'),
    ),
  },
  { $id: 'Payment', title: 'Payment' },
)

export type PublicPayment = Static<typeof PaymentSchema>
