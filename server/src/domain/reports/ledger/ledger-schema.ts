import { Type, type Static } from 'typebox'
import { isoTime, orNull, oneOf, usdc } from '../../../values/schema-fields.ts'
import { FAILURE_CODES, PAYMENT_STATUSES } from '../../payments/payment.ts'
import { LEDGER_ENTRY_TYPES } from './ledger-entry.ts'

/** The schema of an entry of the ledger. Every entry has every field; a field that does not apply is null. */
export const LedgerEntrySchema = Type.Object(
  {
    id: Type.String({
      description: 'The id of the payment or withdrawal (`pay_…`), or of the deposit (`dep_…`).',
    }),
    type: oneOf(LEDGER_ENTRY_TYPES, {
      description:
        '`payment`: an agent paid. `deposit`: USDC arrived in the wallet. `withdrawal`: an owner of the wallet sent USDC from it.',
    }),
    direction: oneOf(['in', 'out'], { description: '`in` for a deposit, `out` for everything else.' }),
    wallet: Type.String({ description: 'The address of the wallet of this workspace, with its EIP-55 checksum.' }),
    from: Type.String({ description: 'The address that sends. Equal to `wallet` if the direction is `out`.' }),
    to: Type.String({ description: 'The address that receives. Equal to `wallet` if the direction is `in`.' }),
    amount_usdc: usdc('The amount. Never negative: `direction` says which way the money went.'),
    status: oneOf(PAYMENT_STATUSES, {
      description: 'A failed entry has moved no money. A deposit is always `confirmed`.',
    }),
    failure_code: orNull(
      oneOf(FAILURE_CODES, {
        description: 'Why the payment or withdrawal failed. Null unless the status is `failed`.',
      }),
    ),
    tx_hash: orNull(
      Type.String({ description: 'The hash of the transaction on the chain. Null while it is not known.' }),
    ),
    agent_id: orNull(Type.String({ description: 'The agent that paid. Null unless the type is `payment`.' })),
    grant_id: orNull(
      Type.String({ description: 'The grant under which the agent paid. Null unless the type is `payment`.' }),
    ),
    memo: orNull(Type.String({ description: 'The note of the payment. Null if it has none.' })),
    idempotency_key: orNull(
      Type.String({ description: 'The key with which the payment was requested. Null if it had none.' }),
    ),
    created_at: isoTime(
      'When the payment or withdrawal was recorded, or when the service found the deposit at the confirmation depth.',
    ),
    confirmed_at: orNull(
      isoTime('When the service saw the transfer on the chain, at the confirmation depth. Null unless confirmed.'),
    ),
  },
  { $id: 'LedgerEntry', title: 'LedgerEntry' },
)

export type PublicLedgerEntry = Static<typeof LedgerEntrySchema>
