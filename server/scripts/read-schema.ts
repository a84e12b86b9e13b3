import type pg from 'pg'

/**
 * The schema of a database to which all migrations have been applied. Two databases with the same schema give the same
 * value, because everything is sorted.
 */
export interface Schema {
  readonly tables: readonly Table[]
  /** Complete statements, without a semicolon. */
  readonly functions: readonly string[]
}

export interface Table {
  readonly name: string
  /** Storage parameters, such as `fillfactor=50`. */
  readonly options: readonly string[]
  readonly columns: readonly TableColumn[]
  readonly constraints: readonly Constraint[]
  /**
   * The statements that create the table's indexes. Indexes of primary keys and unique constraints are left out,
   * because the constraints create them.
   */
  readonly indexes: readonly string[]
  readonly triggers: readonly string[]
}

export interface TableColumn {
  readonly name: string
  /** The type as declared in SQL, such as `numeric(22,0)`. */
  readonly declared: string
  /** The type's name in `pg_type`, such as `numeric`. An array has `[]` appended, such as `text[]`. */
  readonly type: string
  readonly isNullable: boolean
  readonly default: string | null
  /** Whether the database numbers the rows. */
  readonly isIdentity: boolean
  /** The values that the column's own check constraint lists as allowed. Null if there is no such list. */
  readonly words: readonly string[] | null
}

export interface Constraint {
  readonly name: string
  readonly kind: 'primary' | 'unique' | 'check' | 'foreign'
  readonly definition: string
}

const TABLES = `select c.oid::int4, c.relname as name, coalesce(c.reloptions, '{}') as options
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by c.relname collate "C"`
const COLUMNS = `select a.attrelid::int4 as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as declared,
    case when t.typelem <> 0 and t.typlen = -1 then e.typname || '[]' else t.typname end as type,
    not a.attnotnull as "isNullable", pg_get_expr(d.adbin, d.adrelid) as default,
    a.attidentity = 'a' as "isIdentity", (
      select pg_get_constraintdef(k.oid) from pg_constraint k
      where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) like '%= ANY (ARRAY[%' limit 1
    ) as choice
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_type e on e.oid = t.typelem
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped order by a.attnum`
const CONSTRAINTS = `select conrelid::int4 as table, conname as name, contype as kind, pg_get_constraintdef(oid) as definition
  from pg_constraint where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'c', 'f')
  order by position(contype in 'pucf'), conname collate "C"`
const INDEXES = `select i.indrelid::int4 as table, ${withoutSchema('pg_get_indexdef(i.indexrelid)')} as definition
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = current_schema()::regnamespace
    and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
  order by c.relname collate "C"`
const TRIGGERS = `select tgrelid::int4 as table, ${withoutSchema('pg_get_triggerdef(oid)')} as definition
  from pg_trigger where not tgisinternal order by tgname collate "C"`
const FUNCTIONS = `select ${withoutSchema('pg_get_functiondef(oid)')} as definition
  from pg_proc where pronamespace = current_schema()::regnamespace order by proname collate "C"`

const KINDS = { p: 'primary', u: 'unique', c: 'check', f: 'foreign' } as const
const WORD_PATTERN = /'([^']*)'::text/g

/** Returns SQL that removes the name of the schema from a definition, because the tables may be in any schema. */
function withoutSchema(definition: string): string {
  return `replace(${definition}, format(' %I.', current_schema()), ' ')`
}

/** Reads the schema of a migrated database. */
export async function readSchema(client: pg.Client): Promise<Schema> {
  const { rows: tables } = await client.query<{ oid: number; name: string; options: string[] }>(TABLES)
  const { rows: columns } = await client.query<
    Omit<TableColumn, 'words'> & { readonly table: number; readonly choice: string | null }
  >(COLUMNS)
  const { rows: constraints } = await client.query<
    Omit<Constraint, 'kind'> & { readonly table: number; readonly kind: keyof typeof KINDS }
  >(CONSTRAINTS)
  const { rows: indexes } = await client.query<{ table: number; definition: string }>(INDEXES)
  const { rows: triggers } = await client.query<{ table: number; definition: string }>(TRIGGERS)
  const { rows: functions } = await client.query<{ definition: string }>(FUNCTIONS)
  const definitionsOf = (oid: number, of: typeof indexes): string[] =>
    of.filter(({ table }) => table === oid).map(({ definition }) => definition)
  return {
    tables: tables.map(({ oid, name, options }) => ({
      name,
      options,
      columns: columns
        .filter(({ table }) => table === oid)
        .map(({ table: _table, choice, ...column }) => ({ ...column, words: findWords(choice) })),
      constraints: constraints
        .filter(({ table }) => table === oid)
        .map(({ name, kind, definition }) => ({ name, kind: KINDS[kind], definition })),
      indexes: definitionsOf(oid, indexes),
      triggers: definitionsOf(oid, triggers),
    })),
    functions: functions.map(({ definition }) => definition.trim()),
  }
}

function findWords(choice: string | null): string[] | null {
  return choice === null ? null : [...choice.matchAll(WORD_PATTERN)].map(([, word = '']) => word)
}
