import type pg from 'pg'
import type { Query } from '../../server/src/db/query.ts'

/** A column of a statement's result. PostgreSQL can describe the column without running the statement. */
export interface Field {
  readonly name: string
  /** The type's name in `pg_type`; `text[]` for an array. */
  readonly type: string
  /** The table and column that the value comes from. Null for a computed value, or if PostgreSQL does not report it. */
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

/** The names of types and columns in the database, by PostgreSQL's numbers for them. */
export interface Catalogue {
  readonly types: ReadonlyMap<number, string>
  /** Each column as `table.column`, by the numbers of its table and of the column. */
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
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0`,
  )
  return {
    types: new Map(types.rows.map(({ oid, name }) => [oid, name])),
    columns: new Map(columns.rows.map(({ key, source }) => [key, source])),
  }
}

/** Lets PostgreSQL prepare a statement, and returns the columns that the statement would return. */
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

/** Returns the differences between the columns that a statement declares and those that it returns. */
export function findFaults({ name, read }: Query<unknown>, fields: readonly Field[]): string[] {
  return Object.entries(read.columns ?? {}).flatMap(([column, declared]) => {
    const [field, ...others] = fields.filter((returned) => returned.name === column)
    if (field === undefined) return [`${name} does not return ${column}`]
    if (others.length > 0) return [`${name} returns ${column} more than once`]
    return [
      ...(field.type === declared.type ? [] : [`${name} returns ${column} as ${field.type}, not ${declared.type}`]),
      // For a union, PostgreSQL does not report which table a value comes from.
      ...(field.source === null || field.source === declared.source
        ? []
        : [`${name} returns ${column} from ${field.source}, not ${declared.source ?? 'computed'}`]),
    ]
  })
}
