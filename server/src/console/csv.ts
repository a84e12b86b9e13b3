import { Readable } from 'node:stream'
import type { TimeZone } from '../values/time-zone.ts'

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

/** The cells of a line by the names of their columns. A missing cell is empty. */
export type CsvRow<Column extends string> = Readonly<Partial<Record<Column, string | null>>>

export interface CsvSource<Column extends string> {
  readonly columns: readonly Column[]
  /** Returns the next rows, or null at the end. */
  readonly next: () => Promise<readonly CsvRow<Column>[] | null>
  /** Is called after the last row. Throws if rows may be missing, so that the client does not take the file as whole. */
  readonly checkEnd: () => Promise<void>
}

/**
 * Returns rows as a stream of CSV (RFC 4180): a line with the names of the columns, then one line per row. Reads the
 * first rows before it returns, so that the caller can still respond with an error. Further rows are read when the
 * client has received the previous ones.
 */
export async function openCsv<Column extends string>({
  columns,
  next,
  checkEnd,
}: CsvSource<Column>): Promise<Readable> {
  const formatRows = (rows: readonly CsvRow<Column>[]): string =>
    rows.map((row) => columns.map((column) => formatCell(row[column] ?? '')).join(',') + LINE_END).join('')
  const first = BYTE_ORDER_MARK + columns.join(',') + LINE_END + formatRows((await next()) ?? [])
  return openStream(first, async () => {
    const rows = await next()
    if (rows === null) await checkEnd()
    return rows === null ? null : formatRows(rows)
  })
}

/**
 * Returns a stream of texts that begins with `first`. Each further text is read when the client has received the one
 * before; null ends the stream.
 */
export function openStream(first: string, next: () => Promise<string | null>): Readable {
  let head: string | null = first
  const source = new Readable({
    // With a higher number, the stream would read a page before the client needs it.
    highWaterMark: 0,
    read: () => void readOn(),
  })
  const readOn = async (): Promise<void> => {
    try {
      const text = head ?? (await next())
      head = null
      if (!source.destroyed) source.push(text)
    } catch (error) {
      source.destroy(error instanceof Error ? error : new Error('the rows could not be read', { cause: error }))
    }
  }
  return source
}

/** The headers of a response with a CSV file. `parts` become the name of the file. */
export function csvHeaders(...parts: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${toFileName(parts)}.csv"`,
  }
}

/** The headers of a response with lines of JSON. `parts` become the name of the file. */
export function linesHeaders(...parts: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/x-ndjson',
    'Content-Disposition': `attachment; filename="${toFileName(parts)}.ndjson"`,
  }
}

function toFileName(parts: readonly string[]): string {
  return parts.join('-').replaceAll(/[^A-Za-z0-9._-]/g, '-')
}

/**
 * Returns what the name of a file says about its time range: its days in the zone, and the zone if it is not UTC. A
 * range without an end ends now.
 */
export function formatPeriod(
  zone: TimeZone,
  { from, to, now }: { readonly from?: Date | undefined; readonly to?: Date | undefined; readonly now: Date },
): string[] {
  const last = to === undefined || to > now ? now : new Date(to.getTime() - 1)
  const days = [...(from === undefined ? ['until'] : [zone.formatDay(from), 'to']), zone.formatDay(last)]
  return zone.name === 'UTC' ? days : [...days, zone.name]
}

/** Formats one cell. An apostrophe in front of a formula makes a spreadsheet show it as text. */
function formatCell(text: string): string {
  const safe = text.replace(FORMULA_PATTERN, `$1'`)
  return QUOTED_PATTERN.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
