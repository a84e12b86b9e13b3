import type { Schema, Table, TableColumn } from './read-schema.ts'

const HEAD = `// Generated from the migrations by \`npm run schema\`: do not edit.
import { choice, column, nullable } from './column.ts'

/** The columns of every table, with the types of the values that the driver returns for them. */
export const tables = {
`

/** The tables' columns as TypeScript: \`server/src/db/tables.ts\`. */
export function renderTables({ tables }: Schema): string {
  return `${HEAD}${tables.map(renderTable).join('')}} as const\n`
}

function renderTable({ name, columns }: Table): string {
  return `  ${name}: {\n${columns.map((column) => `    ${column.name}: ${renderColumn(name, column)},\n`).join('')}  },\n`
}

function renderColumn(table: string, { name, type, words, isNullable }: TableColumn): string {
  const source = `${table}.${name}`
  const column =
    words === null
      ? `column('${source}', '${type}')`
      : `choice('${source}', [${words.map((word) => `'${word}'`).join(', ')}])`
  return isNullable ? `nullable(${column})` : column
}
