import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url)
/** The migration that creates the schema of the first release. */
export const BASELINE = '0001'
const FILE_PATTERN = /^(\d{4})_[a-z0-9_]+\.sql$/
const OUTSIDE_MARK = '-- no transaction\n'
/**
 * A comment, a text or a quoted name, the text between two marks such as `$$`, or the end of a statement. This is less
 * than PostgreSQL's whole grammar. A file with more, such as nested comments, would be split into parts that PostgreSQL
 * rejects, in every test.
 */
const TOKEN = /--.*|\/\*[^]*?\*\/|'[^']*'|"[^"]*"|(\$\w*\$)[^]*?\1|;/g
/** No SQL contains this character. */
const END = '\0'

export interface Migration {
  readonly version: string
  readonly checksum: string
  /** They are sent one by one, because Citus rejects several commands in one message. */
  readonly statements: readonly string[]
  /** False if the first line of the file is `-- no transaction`. */
  readonly isTransaction: boolean
}

/** Reads all migrations in a folder, in the order in which they are applied. */
export async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => FILE_PATTERN.test(file)).sort()
  return await Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, folder), 'utf8')
      return {
        version: file.slice(0, 4),
        checksum: hash('sha256', sql, 'hex'),
        statements: splitStatements(sql),
        isTransaction: !sql.startsWith(OUTSIDE_MARK),
      }
    }),
  )
}

/** Returns the statements of a file without the comments around them. */
export function splitStatements(sql: string): string[] {
  const marked = sql.replaceAll(TOKEN, (token) => {
    if (token === ';') return END
    return token.startsWith('--') || token.startsWith('/*') ? ' ' : token
  })
  const statements = marked.split(END).map((statement) => statement.trim())
  return statements.filter((statement) => statement !== '')
}
