import type { Rule, Violation } from '../rule.ts'

const PATH_PATTERN = /^server\/migrations\/(?<version>\d{4})_[a-z0-9_]+\.sql$/
/** The baseline is applied to an empty database, so no process uses its tables yet. */
const BASELINE = '0001'
const OUTSIDE_MARK = '-- no transaction\n'
/** Tables that may be so large that building an index on them takes minutes. Every process writes to them. */
const LARGE_TABLES = [
  ...['payments', 'purchases', 'deposits', 'events', 'deliveries', 'delivery_attempts', 'audit_entries'],
  ...['payment_refusals', 'outbound_requests', 'access_tokens', 'refresh_tokens'],
]
/** What takes away something that the statements of the previous version may name. */
const TAKES_AWAY =
  /\b(?:drop\s+(?:table|column)|rename\s+(?:to|column)|alter\s+column\s+\w+\s+(?:type|set\s+not\s+null))\b/i
/** The comment above a statement that takes away what only earlier versions than the previous one used. */
const UNUSED_PATTERN = /^\s*-- unused since \d{4}\b/
const ADDS_REQUIRED = /\badd\s+column\b(?=[^,;]*\bnot\s+null\b)(?![^,;]*\bdefault\b)/i
const INDEX_PATTERN =
  /\bcreate\s+(?:unique\s+)?index\s+(?<how>concurrently\s+if\s+not\s+exists\s+)?\w+\s+on\s+(?<table>\w+)/gi

/** The last migration that was released before the service ran on Citus, which no migration needs to change there. */
export const LAST_BEFORE_CITUS = '0019'
const ALTER_PATTERN = /\balter\s+table\b[^;]*/gi
const QUOTED = /'[^']*'/g
const INNERMOST_PARENTHESES = /\([^()]*\)/g

/**
 * While a migration is applied, and until the last process is replaced, processes of the previous version work on the
 * new schema. So a migration only adds, and does not keep the large tables locked.
 */
export const ADDITIVE_MIGRATIONS: Rule = {
  name: 'a migration takes nothing away from the previous version, and does not lock large tables for long',
  check: (tree) =>
    tree.texts.flatMap(({ path, text }) => {
      const version = PATH_PATTERN.exec(path)?.groups?.['version']
      return version === undefined || version === BASELINE ? [] : checkMigration(path, text)
    }),
}

/** Citus changes a table on the server that has it, and accepts one change at a time. */
export const SINGLE_ALTERATIONS: Rule = {
  name: 'a migration makes one change to a table in each `alter table`',
  check: (tree) =>
    tree.texts.flatMap(({ path, text }) => {
      const version = PATH_PATTERN.exec(path)?.groups?.['version']
      if (version === undefined || version <= LAST_BEFORE_CITUS) return []
      const code = withoutComments(text).replaceAll(QUOTED, blank)
      return [...code.matchAll(ALTER_PATTERN)]
        .filter(([statement]) => withoutParentheses(statement).includes(','))
        .map(({ index }) => ({
          path,
          line: code.slice(0, index).split('\n').length,
          message: 'Citus rejects several changes in one `alter table`: write a statement for each',
        }))
    }),
}

function checkMigration(path: string, text: string): Violation[] {
  const lines = text.split('\n')
  const found = lines.flatMap((line, index): Violation[] => {
    const sql = line.replace(/--.*$/, '')
    const at = { path, line: index + 1 }
    if (TAKES_AWAY.test(sql) && !UNUSED_PATTERN.test(lines[index - 1] ?? '')) {
      const advice = 'take it away one release later, and write `-- unused since NNNN` above, the migration since then'
      return [{ ...at, message: `the previous version may still use what this takes away: ${advice}` }]
    }
    if (ADDS_REQUIRED.test(sql)) {
      return [
        { ...at, message: 'the previous version does not write this column: make it nullable or give it a default' },
      ]
    }
    return []
  })
  const code = withoutComments(text)
  const built = [...code.matchAll(INDEX_PATTERN)].flatMap(({ groups, index }): Violation[] => {
    const table = groups?.['table'] ?? ''
    const isNew = new RegExp(String.raw`\bcreate\s+table\s+${table}\b`, 'i').test(code)
    const isConcurrent = groups?.['how'] !== undefined && text.startsWith(OUTSIDE_MARK)
    if (!LARGE_TABLES.includes(table) || isNew || isConcurrent) return []
    const message = `building this index locks ${table}: write \`create index concurrently if not exists\`, in a file that begins with \`-- no transaction\``
    return [{ path, line: code.slice(0, index).split('\n').length, message }]
  })
  return [...found, ...built]
}

function withoutComments(text: string): string {
  return text.replaceAll(/--.*$/gm, blank)
}

/** A replacement of the same length, so that each line keeps its number. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

function withoutParentheses(statement: string): string {
  const shorter = statement.replaceAll(INNERMOST_PARENTHESES, '')
  return shorter === statement ? statement : withoutParentheses(shorter)
}
