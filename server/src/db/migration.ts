import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url)
/** The migration that creates the schema of the first release. */
export const BASELINE = '0001'
const FILE_PATTERN = /^(\d{4})_[a-z0-9_]+\.sql$/
const OUTSIDE_MARK = '-- no transaction\n'
const COMMENT = /--.*$/gm

export interface Migration {
  readonly version: string
  readonly checksum: string
  readonly sql: string
  /** The statements of a file whose first line is `-- no transaction`; null for a file that runs in one transaction. */
  readonly statements: readonly string[] | null
}

/** Reads all migrations in a folder, in the order in which they are applied. */
export async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => FILE_PATTERN.test(file)).sort()
  return await Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, folder), 'utf8')
      return { version: file.slice(0, 4), checksum: hash('sha256', sql, 'hex'), sql, statements: splitOutside(sql) }
    }),
  )
}

function splitOutside(sql: string): string[] | null {
  if (!sql.startsWith(OUTSIDE_MARK)) return null
  const statements = sql.replaceAll(COMMENT, '').split(';')
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}
