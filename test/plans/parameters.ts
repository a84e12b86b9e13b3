import { NOW } from './rows.ts'

/** The columns of each table, in the order of the database. */
export type Columns = ReadonlyMap<string, readonly string[]>
/** One stored row of each table, as text. The rows belong together, such as a payment with its wallet. */
export type Sample = ReadonlyMap<string, Readonly<Record<string, string | null>>>

/** What a parameter of a statement means, as far as the statement's text shows it. */
export type Role =
  | { readonly kind: 'column'; readonly table: string; readonly column: string; readonly operator: string }
  | { readonly kind: 'count' }
  | { readonly kind: 'optional' }

const DAY_MS = 24 * 60 * 60 * 1_000
const COUNT = 20
const COMPARED =
  /(?:\b(\w+)\.)?\b(\w+)(?: \|\| ''|, '-?infinity'\))? (is not distinct from|is distinct from|<>|<=|>=|=|<|>) (?:any|all)? ?\(?\$(\d+)/g
const ROWS_COMPARED = /\(([\w., ]+)\) (<=|>=|=|<|>) \((\$\d+(?:, ?\$\d+)*)\)/g
const COUNTED = /\b(?:limit|offset|cardinality\(hits\) <|greatest\() ?\$(\d+)/g
const OPTIONAL = /\$(\d+)::\w+(?:\[\])? is null or/g
const SOURCE =
  /\b(?:from|join|update|into) (\w+)(?: (?:as )?(?!on\b|where\b|set\b|cross\b|left\b|join\b|order\b|limit\b|for\b)(\w+))?/g

/** Finds what the parameters of a statement mean. A parameter that this function does not understand has no role. */
export function findRoles(statement: string, columns: Columns): ReadonlyMap<number, Role> {
  const text = statement.replaceAll(/\s+/g, ' ')
  const sources = [...text.matchAll(SOURCE)].map(({ index, 1: table = '', 2: alias = table }) => ({
    index,
    table,
    alias,
  }))
  const roles = new Map<number, Role>()
  const addColumn = (
    number: number,
    position: number,
    name: readonly [alias: string | undefined, column: string],
    operator: string,
  ): void => {
    const [alias, column] = name
    const candidates = sources.filter(
      (source) => columns.get(source.table)?.includes(column) && (alias === undefined || source.alias === alias),
    )
    const source = candidates.findLast(({ index }) => index < position) ?? candidates[0]
    if (source !== undefined && !roles.has(number))
      roles.set(number, { kind: 'column', table: source.table, column, operator })
  }
  for (const { 1: number } of text.matchAll(OPTIONAL)) roles.set(Number(number), { kind: 'optional' })
  for (const { 1: number } of text.matchAll(COUNTED)) roles.set(Number(number), { kind: 'count' })
  for (const { index, 1: names = '', 2: operator = '', 3: numbers = '' } of text.matchAll(ROWS_COMPARED)) {
    const list = names.split(',').map((name) => name.trim().split('.'))
    numbers.split(',').forEach((number, place) => {
      const name = list[place] ?? []
      addColumn(
        Number(number.trim().slice(1)),
        index,
        [name.length > 1 ? name[0] : undefined, name.at(-1) ?? ''],
        operator,
      )
    })
  }
  for (const { index, 1: alias, 2: column = '', 3: operator = '', 4: number } of text.matchAll(COMPARED)) {
    addColumn(Number(number), index, [alias, column], operator)
  }
  return roles
}

/**
 * Returns a value for a parameter, as text. A parameter that is compared with a column gets the sample's value, so that
 * the statement finds rows. A bound of a range gets a value that makes the range as wide as the service ever chooses.
 */
export function valueFor(role: Role | undefined, type: string, sample: Sample): string | null {
  const value = plainValue(role, type.replace(/\[\]$/, ''), sample)
  return type.endsWith('[]') && value !== null && !value.startsWith('{') ? `{${JSON.stringify(value)}}` : value
}

function plainValue(role: Role | undefined, type: string, sample: Sample): string | null {
  if (role?.kind === 'optional') return null
  if (role?.kind === 'count') return String(COUNT)
  const stored = role === undefined ? null : (sample.get(role.table)?.[role.column] ?? null)
  const operator = role?.operator ?? '='
  const isLower = operator.startsWith('>')
  const isRange = isLower || operator === '<' || operator === '<='
  if (type.startsWith('timestamp')) return boundInTime(role?.column, isLower)
  if (isRange && type === 'text') return isLower ? '' : 'zzzz'
  return stored ?? defaultOf(type)
}

function boundInTime(column: string | undefined, isLower: boolean): string {
  return new Date(NOW.getTime() - (column === 'created_at' && isLower ? DAY_MS : 0)).toISOString()
}

function defaultOf(type: string): string {
  const defaults: Readonly<Record<string, string>> = {
    text: 'x',
    bytea: String.raw`\x00`,
    boolean: 'true',
    jsonb: '{}',
    json: '{}',
    date: '2026-05-01',
  }
  return defaults[type] ?? String(COUNT)
}
