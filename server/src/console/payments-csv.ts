import { Readable } from 'node:stream'
import type { PaymentWalk } from '../domain/reports/listing/walk-payments.ts'
import type { ListedPayment } from '../domain/purchases/purchase-summary.ts'
import { formatListedPayment } from './format-payment.ts'

const COLUMNS = [
  ...(['id', 'created_at', 'status', 'failure_code', 'agent_id', 'from', 'to', 'amount_usdc', 'memo'] as const),
  ...(['idempotency_key', 'tx_hash', 'grant_id', 'kind', 'resource', 'delivery'] as const),
]

/** The first character of the file. Without it, spreadsheets do not read the text as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'
const LINE_END = '\r\n'
/**
 * A cell with one of these characters is quoted (RFC 4180). Some spreadsheets also end a cell at a semicolon or tab.
 */
const QUOTED_PATTERN = /[",;\t\r\n]/
/**
 * The places where a spreadsheet would run text as a formula: at the beginning of a cell, and after a character that
 * may end a cell or a line. Quotes do not prevent the second case: a spreadsheet that separates cells by semicolons or
 * tabs ignores quotes in the middle of a cell. Full-width signs such as `＝` also start a formula.
 */
const FORMULA_PATTERN = /(^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g

/**
 * Returns payments as a stream of CSV (RFC 4180): a header line, then one line per payment. `first` is the first page,
 * which the caller has read already. Each further page is read from the database when the client has received the
 * previous page.
 */
export function openCsv(first: readonly ListedPayment[] | null, walk: PaymentWalk): Readable {
  const source = new Readable({
    // With a higher number, the stream would read a page before the client needs it.
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

function formatPage(payments: readonly ListedPayment[] | null): string | null {
  return payments === null ? null : formatLines(payments)
}

function formatLines(payments: readonly ListedPayment[]): string {
  return payments.map((payment) => formatLine(toRow(payment))).join('')
}

/** The URL of a purchase's resource is exported without its query, because a query may contain secrets. */
function toRow(payment: ListedPayment) {
  const { purchase, ...row } = formatListedPayment(payment)
  return { ...row, resource: purchase?.resource_url ?? null, delivery: purchase?.delivery ?? null }
}

function formatLine(row: ReturnType<typeof toRow>): string {
  return COLUMNS.map((column) => formatCell(row[column] ?? '')).join(',') + LINE_END
}

/** Formats one cell. An apostrophe in front of a formula makes a spreadsheet show it as text. */
function formatCell(text: string): string {
  const safe = text.replace(FORMULA_PATTERN, `$1'`)
  return QUOTED_PATTERN.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
