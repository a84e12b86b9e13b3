import { Readable } from 'node:stream'
import type { PaymentWalk } from '../domain/reports/listing/walk-payments.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { formatPaymentRow } from './format-payment.ts'

const COLUMNS = [
  ...(['id', 'created_at', 'status', 'failure_code', 'agent_id', 'from', 'to', 'amount_usdc', 'memo'] as const),
  ...(['idempotency_key', 'tx_hash', 'grant_id'] as const),
]

/** Without it spreadsheets take the text for one of their local character sets. */
const BYTE_ORDER_MARK = '\ufeff'
const LINE_END = '\r\n'
/** RFC 4180: these stand in quotes; so does what some spreadsheets take for the end of a cell. */
const QUOTED_PATTERN = /[",;\t\r\n]/
/**
 * What a spreadsheet would take for a formula, and run: at the beginning, and after what ends a cell or a line for one
 * that was set up for semicolons or tabs, since that heeds no quotes in the middle of a cell. Full-width signs count.
 */
const FORMULA_PATTERN = /(^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g

/**
 * Payments as CSV (RFC 4180): a line of names, then one a payment. The first page is there already; the others are read
 * when the reader takes more, one at a time.
 */
export function openCsv(first: readonly Payment[] | null, walk: PaymentWalk): Readable {
  const source = new Readable({
    // Above 0 a page would be read ahead.
    highWaterMark: 0,
    read: () => void readOn(),
  })
  let head: string | null = BYTE_ORDER_MARK + COLUMNS.join(',') + LINE_END + formatLines(first ?? [])
  const readOn = async (): Promise<void> => {
    try {
      const text = head ?? formatPage(await walk.next())
      head = null
      if (!source.destroyed) source.push(text)
    } catch (error) {
      source.destroy(error instanceof Error ? error : new Error('the walk failed', { cause: error }))
    }
  }
  return source
}

function formatPage(payments: readonly Payment[] | null): string | null {
  return payments === null ? null : formatLines(payments)
}

function formatLines(payments: readonly Payment[]): string {
  return payments.map((payment) => formatLine(formatPaymentRow(payment))).join('')
}

function formatLine(row: ReturnType<typeof formatPaymentRow>): string {
  return COLUMNS.map((column) => formatCell(row[column] ?? '')).join(',') + LINE_END
}

/** An apostrophe before it makes a spreadsheet show a formula as the text that it is. */
function formatCell(text: string): string {
  const safe = text.replace(FORMULA_PATTERN, `$1'`)
  return QUOTED_PATTERN.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
