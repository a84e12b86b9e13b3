import { cleanLine } from './clean-text.ts'
import type { Paint } from './style.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  /** Numbers are easier to compare if their last digits are below each other. */
  readonly alignRight?: boolean
  readonly paint?: (row: Row) => Parameters<Paint>[0] | null
}

const GAP = '  '

/** Formats rows as a table, with a line of titles. Cells may contain untrusted text, which is made safe here. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], paint: Paint): string {
  const cells = rows.map((row) => columns.map(({ value }) => cleanLine(value(row))))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(line[index] ?? ''))),
  )
  const pad = (text: string, index: number): string => {
    const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)))
    if (columns[index]?.alignRight === true) return space + text
    return index === columns.length - 1 ? text : text + space
  }
  const head = columns.map(({ title }, index) => paint('dim', pad(title, index))).join(GAP)
  const body = cells.map((line, rowIndex) =>
    line
      .map((text, index) => {
        const row = rows[rowIndex]
        const style = row === undefined ? null : (columns[index]?.paint?.(row) ?? null)
        return style === null ? pad(text, index) : paint(style, pad(text, index))
      })
      .join(GAP),
  )
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join('')
}

/** Formats names and values, one pair in each line. Pairs without a value are left out. */
export function formatPairs(pairs: readonly (readonly [name: string, value: string | null])[], paint: Paint): string {
  const shown = pairs.filter(([, value]) => value !== null)
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}${GAP}${cleanLine(value ?? '')}\n`).join('')
}

/** The number of characters that a person sees. Almost every cell is plain ASCII, which needs no segmenter. */
function widthOf(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : [...new Intl.Segmenter().segment(text)].length
}
