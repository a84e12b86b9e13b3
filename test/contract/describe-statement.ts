import type pg from 'pg'
import type { Query } from '../../server/src/db/query.ts'

/** A column as PostgreSQL describes it after it has parsed a statement, without running it. */
export interface Field {
  readonly name: string
  /** Its name in `pg_type`; `text[]` for an array. */
  readonly type: string
  /** The table and column of its value, if PostgreSQL knows them; null for a computed value. */
  readonly source: string | null
}

interface RowDescription {
  readonly fields: readonly {
    readonly name: string
    readonly tableID: number
    readonly columnID: number
    readonly dataTypeID: number
  }[]
}

/** The names that PostgreSQL has for its types, tables and columns. */
export interface Catalogue {
  readonly types: ReadonlyMap<number, string>
  /** By the numbers of the table and the column. */
  readonly columns: ReadonlyMap<string, string>
}

export async function readCatalogue(client: pg.Client): Promise<Catalogue> {
  const types = await client.query<{ oid: number; name: string }>(
    `select t.oid::int4, coalesce(e.typname || '[]', t.typname) as name
      from pg_type t left join pg_type e on e.oid = t.typelem and t.typlen = -1`,
  )
  const columns = await client.query<{ key: string; source: string }>(
    `select a.attrelid::int4 || ' ' || a.attnum as key, c.relname || '.' || a.attname as source
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0`,
  )
  return {
    types: new Map(types.rows.map(({ oid, name }) => [oid, name])),
    columns: new Map(columns.rows.map(({ key, source }) => [key, source])),
  }
}

/** Has PostgreSQL prepare a statement, and returns the columns that it would return. */
export async function describeStatement(
  client: pg.Client,
  { text }: Pick<Query<unknown>, 'text'>,
  { types, columns }: Catalogue,
): Promise<Field[]> {
  const described = await new Promise<RowDescription['fields']>((resolve, reject) => {
    let fields: RowDescription['fields'] = []
    client.query({
      submit(connection: pg.Connection) {
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S', name: '' }, true)
        connection.sync()
      },
      handleRowDescription(description: RowDescription) {
        fields = description.fields
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(fields),
    })
  })
  return described.map(({ name, tableID, columnID, dataTypeID }) => ({
    name,
    type: types.get(dataTypeID) ?? `type ${dataTypeID}`,
    source: columns.get(`${tableID} ${columnID}`) ?? null,
  }))
}

/** Returns the differences between a statement's declared columns and those that it returns. */
export function findFaults({ name, read }: Query<unknown>, fields: readonly Field[]): string[] {
  return Object.entries(read.columns ?? {}).flatMap(([column, declared]) => {
    const [field, ...others] = fields.filter((returned) => returned.name === column)
    if (field === undefined) return [`${name} does not return ${column}`]
    if (others.length > 0) return [`${name} returns ${column} more than once`]
    return [
      ...(field.type === declared.type ? [] : [`${name} returns ${column} as ${field.type}, not ${declared.type}`]),
      // In a union, PostgreSQL does not report where a value comes from.
      ...(field.source === null || field.source === declared.source
        ? []
        : [`${name} returns ${column} from ${field.source}, not ${declared.source ?? 'computed'}`]),
    ]
  })
}
