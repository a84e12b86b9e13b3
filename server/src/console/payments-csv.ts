import type { Payment } from '../domain/payments/payment.ts'
import { formatPaymentRow } from './format-payment.ts'

const COLUMNS = [
  ...(['id', 'created_at', 'status', 'failure_code', 'agent_id', 'from', 'to', 'amount_usdc', 'memo'] as const),
  ...(['idempotency_key', 'tx_hash', 'grant_id'] as const),
]

/** RFC 4180: these stand in quotes. */
const QUOTED_PATTERN = /[",\r\n]/
/** What a spreadsheet would take for a formula, and run. */
const FORMULA_PATTERN = /^[=+\-@\t\r]/
const LINE_END = '\r\n'

/** Payments as CSV (RFC 4180): a line of names, then one a payment. The first page is there already. */
export async function* toCsv(
  first: readonly Payment[],
  others: AsyncIterable<readonly Payment[]>,
): AsyncGenerator<string, undefined> {
  yield COLUMNS.join(',') + LINE_END + formatLines(first)
  for await (const page of others) {
    if (page.length > 0) yield formatLines(page)
  }
}

function formatLines(payments: readonly Payment[]): string {
  return payments.map((payment) => formatLine(formatPaymentRow(payment))).join('')
}

function formatLine(row: ReturnType<typeof formatPaymentRow>): string {
  return COLUMNS.map((column) => formatCell(row[column] ?? '')).join(',') + LINE_END
}

/** An apostrophe before it makes a spreadsheet show a formula as the text that it is. */
function formatCell(text: string): string {
  const safe = FORMULA_PATTERN.test(text) ? `'${text}` : text
  return QUOTED_PATTERN.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
