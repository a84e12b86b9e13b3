/**
 * A column of a statement's result. `tables.ts`, which is generated from the migrations, contains the columns of every
 * table. If a statement computes a value, it declares a column for the value with `computed`. A test prepares every
 * statement and compares its declared columns with those that PostgreSQL reports.
 */
export interface Column<Value> {
  readonly type: ColumnType
  readonly isNullable: boolean
  /** The table and column whose value is returned unchanged; null for a computed value. */
  readonly source: string | null
  /** For the type checker only; never set. */
  readonly value?: Value
}

/** What the driver returns for each type of PostgreSQL that we use. The names are those of `pg_type`. */
export interface ColumnValues {
  readonly bool: boolean
  readonly bytea: Buffer
  /** As YYYY-MM-DD (see `TYPES` in `database.ts`). */
  readonly date: string
  readonly int2: number
  readonly int4: number
  /** A string, because not every 64-bit integer fits a number. */
  readonly int8: string
  readonly json: Json
  readonly jsonb: Json
  readonly numeric: string
  readonly text: string
  readonly timestamptz: Date
  readonly 'int8[]': string[]
  readonly 'text[]': string[]
}

export type ColumnType = keyof ColumnValues

/** Parsed JSON of unknown shape. `narrow` declares which type the column contains. */
export interface Json {
  readonly __kind: 'json'
}

/** The columns of a result's row, by name. */
export type Columns = Readonly<Record<string, Column<unknown>>>

export type RowOf<Shape extends Columns> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Column<infer Value> ? Value : never
}

/** A column of a table. */
export function column<Type extends ColumnType>(source: string, type: Type): Column<ColumnValues[Type]> {
  return { type, isNullable: false, source }
}

/** A text column whose values are listed in a check constraint. */
export function choice<const Word extends string>(source: string, _words: readonly Word[]): Column<Word> {
  return { type: 'text', isNullable: false, source }
}

/** The same column in a statement where it may be null, for example in a table that is joined with `left join`. */
export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return { ...column, isNullable: true }
}

/**
 * A nullable column that is never null in this statement, because the statement selects only rows that have a value.
 */
export function required<Value>(column: Column<Value | null>): Column<NonNullable<Value>>
export function required(column: Column<unknown>): Column<unknown> {
  return { ...column, isNullable: false }
}

/** Makes all of these columns nullable, for a statement in which their row may be missing. */
export function nullableAll<Shape extends Columns>(
  columns: Shape,
): { readonly [Name in keyof Shape]: Column<RowOf<Shape>[Name] | null> }
export function nullableAll(columns: Columns): Columns {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, nullable(column)]))
}

/**
 * Declares that a column contains only values of a narrower type. The schema does not enforce this and nothing checks
 * it. It is true because only the stores of one folder of `domain/` write the column, with values of that type.
 */
export function narrow<Value extends string>(column: Column<string>): Column<Value>
export function narrow<Value extends string>(column: Column<string | null>): Column<Value | null>
export function narrow<Value extends string>(column: Column<string[]>): Column<Value[]>
export function narrow<Value extends object>(column: Column<Json>): Column<Value>
export function narrow<Value extends object>(column: Column<Json | null>): Column<Value | null>
export function narrow(column: Column<unknown>): Column<unknown> {
  return column
}

/** Some columns of a table. */
export function pick<Table extends Columns, const Name extends keyof Table & string>(
  table: Table,
  ...names: readonly Name[]
): Pick<Table, Name>
export function pick(table: Columns, ...names: readonly string[]): Columns {
  return Object.fromEntries(names.map((name) => [name, table[name]]).filter(([, column]) => column !== undefined))
}

/** The columns as a statement's select list. */
export function listOf(columns: Columns): string {
  return Object.keys(columns).join(', ')
}

function computedAs<Type extends ColumnType>(type: Type): Column<ColumnValues[Type]> {
  return { type, isNullable: false, source: null }
}

/** Columns for values that a statement computes. If a value may be null, wrap its column in `nullable`. */
export const computed = {
  bool: computedAs('bool'),
  bytea: computedAs('bytea'),
  int4: computedAs('int4'),
  int8: computedAs('int8'),
  numeric: computedAs('numeric'),
  text: computedAs('text'),
  textArray: computedAs('text[]'),
  timestamptz: computedAs('timestamptz'),
} as const
