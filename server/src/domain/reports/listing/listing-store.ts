import { computed, nullable, type RowOf } from '../../../db/column.ts'
import { all, one, type Query } from '../../../db/query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Scanned } from '../../../db/bounded-scan.ts'
import { orderText, readScan, scanText, textOfMode } from '../../../db/bounded-scan-query.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../../payments/payments-store.ts'
import { filterText, filterValues, type PaymentSelection } from './payment-conditions-store.ts'
import { INDEXED_AMOUNT, isByAmount, ORDERS, type PaymentPosition, type PaymentSort } from './payment-order.ts'

/** Which index a scan reads along. */
type Path = 'all' | 'of_agent' | 'to_recipient' | 'by_amount'

export interface PaymentScan extends PaymentSelection {
  readonly sort: PaymentSort
  /** Where the page begins. Null for the first page. */
  readonly after: PaymentPosition | null
  readonly limit: number
  readonly scanRowsMax: number
}

const CONDITION_OF_PATH: Readonly<Record<Path, string>> = {
  all: 'id >= $2 and id < $3',
  of_agent: 'agent_id = $4 and id >= $2 and id < $3',
  to_recipient: 'lower(to_address) = $5 and id >= $2 and id < $3',
  by_amount: `${INDEXED_AMOUNT} >= $11 and ${INDEXED_AMOUNT} <= $12`,
}

const rangeOf = (path: Path, mode: Mode): string =>
  `workspace_id = $1 and mode = '${mode}' and ${CONDITION_OF_PATH[path]}`

const filterOf = (path: Path): string =>
  filterText({ isOfAgent: path === 'of_agent', isToRecipient: path === 'to_recipient' })

function pathOf({ agentId, recipient }: PaymentSelection, sort: PaymentSort = 'newest'): Path {
  if (isByAmount(sort)) return 'by_amount'
  if (recipient !== null) return 'to_recipient'
  return agentId === null ? 'all' : 'of_agent'
}

/**
 * Lists the selected payments in an order. Uses `payments_listed`, `payments_of_agent` for one agent,
 * `payments_to_recipient` for one recipient, or `payments_by_amount` for an order by amount.
 */
export function listPaymentRows({
  sort,
  after,
  limit,
  scanRowsMax,
  ...selection
}: PaymentScan): Query<Scanned<Payment>> {
  const path = pathOf(selection, sort)
  const { mode } = selection
  const isPaged = path === 'by_amount'
  const compared = ORDERS[sort].direction === 'desc' ? '<' : '>'
  const range = `${rangeOf(path, mode)}${isPaged ? ` and (${INDEXED_AMOUNT}, id) ${compared} ($19::numeric, $20)` : ''}`
  const paged = isPaged ? startOf(sort, after) : []
  return {
    name: `list_payments_${path}_${sort}_${mode}`,
    text: scanText({
      columns: PAYMENT_COLUMNS,
      table: 'payments',
      range,
      filter: filterOf(path),
      limit: '$17',
      scanRowsMax: '$18',
      order: ORDERS[sort],
    }),
    values: [...filterValues(isPaged ? selection : startAfter(selection, sort, after)), limit, scanRowsMax, ...paged],
    read: readScan(PAYMENT_ROW, toPayment),
  }
}

/** Restricts the ids of a selection to those after a position of a list that is sorted by id. */
export function startAfter(
  selection: PaymentSelection,
  sort: PaymentSort,
  after: PaymentPosition | null,
): PaymentSelection {
  const { from, below } = selection
  if (after === null || isByAmount(sort)) return selection
  if (sort === 'newest') return after.id < below ? { ...selection, below: after.id } : selection
  // No other id sorts between an id and the same id with one more character.
  const next = `${after.id}0`
  return next > from ? { ...selection, from: next } : selection
}

/** The highest number that the column of amounts can contain. */
const ABOVE_ALL_AMOUNTS = '9999999999999999999999'

/** The values of the position where a list begins that is sorted by amount. */
export function startOf(sort: PaymentSort, after: PaymentPosition | null): [amountMicro: string, id: string] {
  if (after !== null) return [after.amountMicro, after.id]
  return [ORDERS[sort].direction === 'desc' ? ABOVE_ALL_AMOUNTS : '0', '']
}

/** Counts and sums of payments, by status. */
export interface PaymentSums {
  readonly confirmed: number
  readonly confirmedMicro: bigint
  readonly pending: number
  readonly pendingMicro: bigint
  readonly failed: number
}

/**
 * The result of counting: the payments that passed the filter, how many rows were read (newest first), and the id of
 * the last row that was read.
 */
export interface CountedRows extends PaymentSums {
  readonly lookedAt: number
  readonly oldest: string | null
}

export const SUMS_ROW = {
  confirmed: computed.int8,
  confirmed_micro: computed.numeric,
  pending: computed.int8,
  pending_micro: computed.numeric,
  failed: computed.int8,
  looked_at: computed.int8,
  oldest: nullable(computed.text),
}

/** Sums rows with `id`, `status`, `amount_micro`, and `passes`, which says whether the row is selected. */
export const SUMS_COLUMNS = `count(*) filter (where passes and status = 'confirmed') as confirmed,
  coalesce(sum(amount_micro) filter (where passes and status = 'confirmed'), 0) as confirmed_micro,
  count(*) filter (where passes and status = 'pending') as pending,
  coalesce(sum(amount_micro) filter (where passes and status = 'pending'), 0) as pending_micro,
  count(*) filter (where passes and status = 'failed') as failed, min(id) as oldest`

export function toSums(row: RowOf<typeof SUMS_ROW>): CountedRows {
  return {
    confirmed: Number(row.confirmed),
    confirmedMicro: BigInt(row.confirmed_micro),
    pending: Number(row.pending),
    pendingMicro: BigInt(row.pending_micro),
    failed: Number(row.failed),
    lookedAt: Number(row.looked_at),
    oldest: row.oldest,
  }
}

/**
 * Counts and sums the selected payments, the newest first. Uses `payments_listed`, `payments_of_agent` for one agent, or
 * `payments_to_recipient` for one recipient.
 */
export function countPaymentRows(selection: PaymentSelection, scanRowsMax: number): Query<CountedRows> {
  const path = pathOf(selection)
  const { mode } = selection
  return {
    name: `count_payments_${path}_${mode}`,
    text: `select ${SUMS_COLUMNS}, count(*) as looked_at from (
        select id, status, amount_micro, (${filterOf(path)}) as passes from payments
        where ${rangeOf(path, mode)} order by ${orderText(ORDERS.newest)} limit $17::bigint
      ) looked_at`,
    values: [...filterValues(selection), scanRowsMax],
    read: one(SUMS_ROW, toSums),
  }
}

const newestText = textOfMode(
  'list_newest_payments',
  (mode) =>
    `select ${PAYMENT_COLUMNS} from payments where workspace_id = $1 and mode = ${mode} order by id desc limit $2`,
)

/** Lists the newest payments of a workspace and mode. Uses the index `payments_listed`. */
export function listNewestPayments(workspaceId: string, mode: Mode, limit: number): Query<Payment[]> {
  return { ...newestText(mode), values: [workspaceId, limit], read: all(PAYMENT_ROW, toPayment) }
}
