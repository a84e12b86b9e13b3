import { computed, nullable } from '../../../db/column.ts'
import { all, one, type Query } from '../../../db/query.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Payment, PaymentKind, PaymentStatus, TxHash } from '../../payments/payment.ts'
import type { Scanned } from '../../../db/bounded-scan.ts'
import { readScan, scanText, textOfMode } from '../../../db/bounded-scan-query.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../../payments/payments-store.ts'

/** The conditions for the payments that a scan returns. */
export interface PaymentSelection {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string | null
  /** The lowest id to return. It need not be the id of a payment. */
  readonly from: string
  /** All returned ids are lower than this. It need not be the id of a payment. */
  readonly below: string
  readonly wallet: Address | null
  readonly status: PaymentStatus | null
  readonly txHash: TxHash | null
  /** An address that must be the payment's recipient or wallet. */
  readonly address: Address | null
  /** A text that the memo, or the host of a purchase, must contain, in upper or lower case. */
  readonly textPart: string | null
  readonly kind: PaymentKind | null
  /** If set, only purchases that were paid, and not delivered at this time. */
  readonly undeliveredAt: Date | null
}

export interface PaymentScan extends PaymentSelection {
  readonly limit: number
  readonly scanRowsMax: number
}

/**
 * Reads, by the primary key, a column of the purchase that belongs to the payment of the current row. This is a scalar
 * subquery, because PostgreSQL runs a scalar subquery row by row, and never reads all purchases for it.
 */
const ofPurchase = (value: string): string =>
  `(select ${value} from purchases where workspace_id = $1 and payment_id = id)`

const PARTS = {
  columns: PAYMENT_COLUMNS,
  table: 'payments',
  filter: `($4::text is null or wallet_address = $4) and ($5::text is null or status = $5)
    and ($6::text is null or tx_hash = $6) and ($7::text is null or to_address = $7 or wallet_address = $7)
    and ($8::text is null or memo ilike $8 or kind = 'x402' and ${ofPurchase('host')} ilike $8)
    and ($9::text is null or kind = $9)
    and ($10::timestamptz is null or kind = 'x402' and status = 'confirmed'
      and ${ofPurchase(`resolved_at is null and (delivery = 'failed' or delivery = 'unknown' and valid_before <= $10)`)})`,
  limit: '$11',
  scanRowsMax: '$12',
}
const rangeOf = (mode: string): string => `workspace_id = $1 and mode = ${mode} and id >= $2 and id < $3`
const listText = textOfMode('list_payments', (mode) => scanText({ ...PARTS, range: rangeOf(mode) }))
const listTextOfAgent = textOfMode('list_payments_of_agent', (mode) =>
  scanText({ ...PARTS, range: `${rangeOf(mode)} and agent_id = $13` }),
)

/** Lists the selected payments, newest first. Uses `payments_listed`, or `payments_of_agent` for one agent. */
export function listPaymentRows({ limit, scanRowsMax, ...selection }: PaymentScan): Query<Scanned<Payment>> {
  const { mode, agentId } = selection
  const values = [...valuesOf(selection), limit, scanRowsMax]
  const read = readScan(PAYMENT_ROW, toPayment)
  return agentId === null
    ? { ...listText(mode), values, read }
    : { ...listTextOfAgent(mode), values: [...values, agentId], read }
}

/**
 * The result of counting: how many rows passed the filter, how many were read (newest first), and the id of the last
 * row that was read.
 */
export interface PassedRows {
  readonly passed: number
  readonly lookedAt: number
  readonly oldest: string | null
}

const PASSED_ROW = { passed: computed.int8, looked_at: computed.int8, oldest: nullable(computed.text) }

const countTextFor = (range: string): string => `
  select count(*) filter (where passes) as passed, count(*) as looked_at, min(id) as oldest from (
    select id, (${PARTS.filter}) as passes from payments where ${range} order by id desc limit $11::bigint
  ) looked_at`
const countText = textOfMode('count_payments', (mode) => countTextFor(rangeOf(mode)))
const countTextOfAgent = textOfMode('count_payments_of_agent', (mode) =>
  countTextFor(`${rangeOf(mode)} and agent_id = $12`),
)

/** Counts the selected payments. Uses `payments_listed`, or `payments_of_agent` for one agent. */
export function countPaymentRows({ scanRowsMax, ...selection }: Omit<PaymentScan, 'limit'>): Query<PassedRows> {
  const { mode, agentId } = selection
  const values = [...valuesOf(selection), scanRowsMax]
  const read = one(PASSED_ROW, (row): PassedRows => ({
    passed: Number(row.passed),
    lookedAt: Number(row.looked_at),
    oldest: row.oldest,
  }))
  return agentId === null
    ? { ...countText(mode), values, read }
    : { ...countTextOfAgent(mode), values: [...values, agentId], read }
}

/** Returns the values of the parameters $1 to $10, which the statements above share. */
function valuesOf(selection: PaymentSelection): unknown[] {
  const { workspaceId, from, below, wallet, status, txHash, address, textPart, kind, undeliveredAt } = selection
  const pattern = textPart === null ? null : `%${escapePattern(textPart)}%`
  return [workspaceId, from, below, wallet, status, txHash, address, pattern, kind, undeliveredAt]
}

/** Escapes the characters that are special in an SQL `like` pattern. */
function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`)
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
