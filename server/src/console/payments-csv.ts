import { Readable } from 'node:stream'
import type { PaymentWalk } from '../domain/reports/listing/walk-payments.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { formatPaymentRow } from './format-payment.ts'

const COLUMNS = [
  ...(['id', 'created_at', 'status', 'failure_code', 'agent_id', 'from', 'to', 'amount_usdc', 'memo'] as const),
  ...(['idempotency_key', 'tx_hash', 'grant_id'] as const),
]

/** Without it, spreadsheets read the text in a local character set. */
const BYTE_ORDER_MARK = '\ufeff'
const LINE_END = '\r\n'
/** Cells with these characters are quoted (RFC 4180). Some spreadsheets end a cell at a semicolon or tab as well. */
const QUOTED_PATTERN = /[",;\t\r\n]/
/**
 * The places where a spreadsheet would read, and run, a formula: at the beginning of the text, and after a character that may
 * end a cell or a line. A spreadsheet that is set up for semicolons or tabs ignores quotes in the middle of a cell. Full-width
 * signs count as well.
 */
const FORMULA_PATTERN = /(^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g

/**
 * Payments as CSV (RFC 4180): a header line, then one line per payment. The first page has been read already. Each further
 * page is read when the client takes more.
 */
export function openCsv(first: readonly Payment[] | null, walk: PaymentWalk): Readable {
  const source = new Readable({
    // With a higher mark, a page would be read ahead.
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

/** An apostrophe in front makes a spreadsheet show a formula as text. */
function formatCell(text: string): string {
  const safe = text.replace(FORMULA_PATTERN, `$1'`)
  return QUOTED_PATTERN.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
