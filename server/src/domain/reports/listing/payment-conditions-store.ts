import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { FailureCode, PaymentKind, PaymentStatus } from '../../payments/payment.ts'
import type { SearchedParts } from '../../search/resolve-search.ts'

/** The conditions for the payments of a list. */
export interface PaymentSelection extends SearchedParts {
  readonly workspaceId: string
  readonly mode: Mode
  /** The lowest id. It need not be the id of a payment. */
  readonly from: string
  /** All ids are lower than this. It need not be the id of a payment. */
  readonly below: string
  readonly agentId: string | null
  readonly wallet: Address | null
  readonly recipient: Address | null
  readonly status: PaymentStatus | null
  readonly failureCode: FailureCode | null
  readonly kind: PaymentKind | null
  /** If set, only purchases that were paid, not delivered at this time, and not marked as resolved. */
  readonly undeliveredAt: Date | null
  readonly minMicro: MicroUsdc
  readonly maxMicro: MicroUsdc
}

/**
 * Reads, by the primary key, a column of the purchase that belongs to the payment of the current row. This is a scalar
 * subquery, because PostgreSQL runs a scalar subquery row by row, and never reads all purchases for it.
 */
const ofPurchase = (value: string): string =>
  `(select ${value} from purchases where workspace_id = $1 and payment_id = id)`

/** What people wrote about the payment of the current row. */
const OF_NOTE = `(select concat_ws(' ', note, category) from payment_notes
  where workspace_id = $1 and payment_id = id)`

/** The conditions that an index may also enforce. A statement that reads along this index leaves the condition out. */
const OF_AGENT = '($4::text is null or agent_id = $4)'
const TO_RECIPIENT = '($5::text is null or lower(to_address) = $5)'

/**
 * The filter of one row. It is the only place that turns the conditions into SQL. Its parameters are $1 to $16.
 * PostgreSQL looks up each recipient in a hash table of the subquery, because a name can find up to 1,000 addresses.
 */
export function filterText({ isOfAgent = false, isToRecipient = false } = {}): string {
  return `id >= $2 and id < $3 and ${isOfAgent ? 'agent_id = $4' : OF_AGENT}
    and ${isToRecipient ? 'lower(to_address) = $5' : TO_RECIPIENT}
    and ($6::text is null or wallet_address = $6) and ($7::text is null or status = $7)
    and ($8::text is null or failure_code = $8) and ($9::text is null or kind = $9)
    and ($10::timestamptz is null or kind = 'x402' and status = 'confirmed'
      and ${ofPurchase(`resolved_at is null and (delivery = 'failed' or delivery = 'unknown' and valid_before <= $10)`)})
    and amount_micro >= $11 and amount_micro <= $12
    and ($13::text is null or lower(to_address) like $13 or lower(wallet_address) like $13 or tx_hash like $13)
    and ($14::text is null or memo ~ $14 or agent_id ~ $14 or amount_micro = $16
      or lower(to_address) in (select unnest($15::text[])) or kind = 'x402' and ${ofPurchase('host')} ~ $14
      or ${OF_NOTE} ~ $14)`
}

/** The values of the parameters $1 to $16. */
export function filterValues(selection: PaymentSelection): unknown[] {
  const { workspaceId, from, below, agentId, recipient, wallet, status, failureCode, kind } = selection
  const { undeliveredAt, minMicro, maxMicro, hexLike, textPattern, recipients, amountMicro } = selection
  return [
    ...[workspaceId, from, below, agentId, recipient?.toLowerCase() ?? null, wallet, status, failureCode, kind],
    ...[undeliveredAt, minMicro, maxMicro, hexLike, textPattern, recipients, amountMicro],
  ]
}
