import { computed, nullable, nullableAll } from '../../../db/column.ts'
import { all, firstOrNull, foundRow, rowsOf, type Query } from '../../../db/query.ts'
import { orderText } from '../../../db/bounded-scan-query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { Payment } from '../../payments/payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../../payments/payments-store.ts'
import { startAfter, startOf, SUMS_COLUMNS, SUMS_ROW, toSums, type CountedRows } from './listing-store.ts'
import { filterText, filterValues, type PaymentSelection } from './payment-conditions-store.ts'
import { INDEXED_AMOUNT, isByAmount, ORDERS, type PaymentPosition, type PaymentSort } from './payment-order.ts'

/** Conditions by which indexes find payments, wherever in the list they are. A payment meets one of them. */
export interface Candidates {
  /** Addresses of recipients, in lower case. */
  readonly recipients: readonly string[]
  readonly minMicro: MicroUsdc | null
  readonly maxMicro: MicroUsdc | null
  /** The first characters of a transaction's hash, in lower case. */
  readonly hashHead: string | null
}

/** The digit `g` sorts after all digits of a hash. So this is above all hashes and addresses that begin with `head`. */
const endOf = (head: string): string => `${head}g`

/**
 * The ids of at most `$17` payments for each condition. Its own parameters are $18 to $22. A hash is looked up among all
 * workspaces, because only this index contains hashes. Four digits of a hash select one of 65,536.
 */
const candidatesText = (mode: Mode): string => {
  // With `|| ''`, PostgreSQL cannot choose an index over the ids or the workspaces, along which it could read every
  // payment of the workspace.
  const inRange = `id || '' >= $2 and id || '' < $3 limit $17::bigint`
  const own = `workspace_id = $1 and mode = '${mode}'`
  return `candidates as materialized (
      select id from (
        select id from payments where ${own} and lower(to_address) = any($18::text[]) and ${inRange}
      ) paid_to
      union select id from (
        select id from payments
        where ${own} and ${INDEXED_AMOUNT} >= $19::numeric and ${INDEXED_AMOUNT} <= $20::numeric and ${inRange}
      ) of_amount
      union select id from (
        select id from payments
        where mode = '${mode}' and tx_hash >= $21::text and tx_hash < $22::text and workspace_id || '' = $1 and ${inRange}
      ) with_hash
    ), few as materialized (select array_agg(id) as ids, count(*) as found from candidates having count(*) < $17::bigint)`
}

/** Reads the candidates that pass the filter, by the primary key. Reads nothing if there are too many candidates. */
const PASSING = `workspace_id = $1 and id = any((select ids from few)::text[]) and ${filterText()}`

function candidateValues(selection: PaymentSelection, candidates: Candidates, candidatesMax: number): unknown[] {
  const { recipients, minMicro, maxMicro, hashHead } = candidates
  const hashes = hashHead === null ? [null, null] : [hashHead, endOf(hashHead)]
  return [...filterValues(selection), candidatesMax, recipients, minMicro, maxMicro, ...hashes]
}

interface CandidateList {
  readonly candidates: Candidates
  readonly candidatesMax: number
  readonly sort: PaymentSort
  /** Where the page begins. Null for the first page. */
  readonly after: PaymentPosition | null
  readonly limit: number
}

/**
 * Lists the selected payments among the candidates, in an order. Returns null if there are `candidatesMax` candidates or
 * more: then many payments match, and a scan of the list finds them. Uses `payments_to_recipient`, `payments_by_amount`,
 * `payments_one_per_transfer_log` and the primary key.
 */
export function listCandidates(
  selection: PaymentSelection,
  { candidates, candidatesMax, sort, after, limit }: CandidateList,
): Query<Payment[] | null> {
  const { mode } = selection
  const isPaged = isByAmount(sort)
  const order = ORDERS[sort]
  const start = isPaged
    ? ` and (${INDEXED_AMOUNT}, id) ${order.direction === 'desc' ? '<' : '>'} ($24::numeric, $25)`
    : ''
  const values = [...candidateValues(startAfter(selection, sort, after), candidates, candidatesMax), limit]
  const row = { found: nullable(computed.int8), ...nullableAll(PAYMENT_ROW) }
  return {
    name: `list_candidate_payments_${sort}_${mode}`,
    text: `with ${candidatesText(mode)}, page as materialized (
        select ${PAYMENT_COLUMNS} from payments where ${PASSING}${start} order by ${orderText(order)} limit $23::bigint
      )
      select page.*, (select found from few) as found
      from (select 1) one left join page on true order by ${orderText(order, 'page.')}`,
    values: isPaged ? [...values, ...startOf(sort, after)] : values,
    read: rowsOf(row, (rows) =>
      rows[0]?.found === null
        ? null
        : rows.filter(({ id }) => id !== null).map((found) => toPayment(foundRow(PAYMENT_ROW, found))),
    ),
  }
}

/**
 * Counts and sums the selected payments among the candidates. Returns null if there are `candidatesMax` candidates or
 * more. Uses `payments_to_recipient`, `payments_by_amount`, `payments_one_per_transfer_log` and the primary key.
 */
export function countCandidates(
  selection: PaymentSelection,
  { candidates, candidatesMax }: Pick<CandidateList, 'candidates' | 'candidatesMax'>,
): Query<CountedRows | null> {
  const { mode } = selection
  return {
    name: `count_candidate_payments_${mode}`,
    text: `with ${candidatesText(mode)}
      select ${SUMS_COLUMNS}, found as looked_at from few
        left join lateral (select id, status, amount_micro, true as passes from payments where ${PASSING}) passing on true
      group by found`,
    values: candidateValues(selection, candidates, candidatesMax),
    read: firstOrNull(SUMS_ROW, toSums),
  }
}

/**
 * Lists the addresses that were paid and begin with `head`, in lower case. Finds one address after the other, so it
 * reads one entry of `payments_to_recipient` for each address, however often the address was paid.
 */
export function listPaidAddresses(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  { head, limit }: { readonly head: string; readonly limit: number },
): Query<string[]> {
  const next = (bound: string): string => `(select lower(to_address) from payments
    where workspace_id = $1 and mode = '${mode}' and lower(to_address) ${bound} and lower(to_address) < $3
    order by lower(to_address) limit 1)`
  return {
    name: `list_paid_addresses_${mode}`,
    text: `with recursive paid (address) as (
        select ${next('>= $2')}
        union all select ${next('> paid.address')} from paid where paid.address is not null
      )
      select address from paid where address is not null limit $4`,
    values: [workspaceId, head, endOf(head), limit],
    read: all({ address: computed.text }, ({ address }) => address),
  }
}
