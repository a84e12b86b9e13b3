import { isServer, type Rule, type Violation } from '../rule.ts'
import { roomOf } from '../room.ts'
import { lineAt, type Module, type SourceTree } from '../source-tree.ts'

/** Matches white space and comments before a statement. */
const LEAD = String.raw`^(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*`
const STATEMENT_PATTERN = new RegExp(
  String.raw`${LEAD}(?:select\b[\s\S]*\b(?:from|for\s+update)\b|select\s+(?:\d|\$|[\w.]+\s*\()|insert\s+into\s|update\s+[\w."]+\s+(?:as\s+\w+\s+|\w+\s+)?set\s|` +
    String.raw`delete\s+from\s|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\(|` +
    String.raw`merge\s+into\s|(?:create|alter|drop|lock|truncate)\s+(?:or\s+replace\s+)?(?:unique\s+)?(?:table|index|database|schema|function|extension|view|type|trigger|role)\b|` +
    String.raw`truncate\s+\w+\s*$|copy\s+\w+\s+(?:from|to)\b|call\s+\w+\(|values\s*\(|savepoint\s+\w+\s*$|(?:listen|notify|analyze)\s+\w+\s*$|vacuum\b|` +
    String.raw`set\s+(?:local|session)\s|(?:begin|commit|rollback)\s*;?\s*$)`,
  'i',
)
const SQL_CLOCK_PATTERN =
  /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|uuidv7)\s*\(\s*\)|\bage\s*\(\s*[^,()]+\)|'(?:now|today|tomorrow|yesterday)'|\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b/i
const WRITE_PATTERN =
  /\b(?:insert\s+into|delete\s+from|update|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:\w+\.)?"?([a-z_]+)"?(?:\s*$|\s*[;)(]|\s+(?:as\s+\w+\s+|\w+\s+)?(?:set\b|\(|select\b|values\b|where\b|using\b|default\b|returning\b))/gi

/**
 * The files that may read the database's clock. The first one compares that clock with ours, and decides nothing by it.
 * The second one contains a single statement: the processes of the service decide by the same clock whether a refresh
 * token was used twice at the same time (D38a).
 */
const CLOCK_READERS = [
  'server/src/db/inspect-database.ts',
  'server/src/domain/connections/take-refresh-tokens-store.ts',
]

/**
 * Returns whether the file is a store: `store.ts`, or a file such as `grants-store.ts` next to the operations that use
 * it.
 */
function isStore(path: string): boolean {
  return path.endsWith('/store.ts') || path.endsWith('-store.ts')
}

function maySpeakSql(path: string): boolean {
  return path.startsWith('server/src/db/') || isStore(path)
}

export const SQL_IN_STORES: Rule = {
  name: 'SQL stands in store.ts or db/ only',
  check: (tree) =>
    eachString(
      tree,
      (module) => isServer(module) && !maySpeakSql(module.path),
      (text) =>
        STATEMENT_PATTERN.test(text) ? "a statement outside a store: move it into the room's store.ts (or db/)" : null,
    ),
}

/** SQL must not read the time: the database's clock differs from the server's, and the sandbox cannot move it (D49). */
export const SQL_WITHOUT_CLOCK: Rule = {
  name: 'SQL never asks for the time',
  check: (tree) => {
    const inMigrations = tree.texts
      .filter(({ path }) => path.startsWith('server/migrations/'))
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index) => {
          const message = findClock(line.replace(/--.*$/, ''))
          return message === null ? [] : [{ path, line: index + 1, message }]
        }),
      )
    return [
      ...eachString(
        tree,
        (module) => isServer(module) && maySpeakSql(module.path) && !CLOCK_READERS.includes(module.path),
        findClock,
      ),
      ...inMigrations,
    ]
  },
}

function findClock(text: string): string | null {
  const match = SQL_CLOCK_PATTERN.exec(text)
  return match && `\`${match[0]}\` in SQL: pass the clock's "now" as a parameter (D49)`
}

export const OWN_TABLES: Rule = {
  name: 'a room writes its own tables only',
  check: (tree) => {
    const owners = new Map<string, string>()
    return eachString(
      tree,
      (module) => isServer(module) && maySpeakSql(module.path),
      (text, module) => {
        const room = roomOf(module.path)
        for (const [, table = ''] of text.matchAll(WRITE_PATTERN)) {
          const owner = owners.get(table) ?? room
          owners.set(table, owner)
          if (owner !== room)
            return `\`${table}\` is written in ${owner} too: call an operation of the room that owns the table`
        }
        return null
      },
    )
  },
}

const CREATED_TABLE_PATTERN = /\bcreate\s+table\s+(\w+)/gi
const SOURCE_PATTERN = /\b(?:from|join|update|into)\s+(\w+)(?=(?:\s+(?:as\s+)?(\w+))?)/gi
/**
 * Matches each way to read all columns: a star after the name or alias of a table, after `select` or after `returning`,
 * a whole row as JSON, and `table x`.
 */
const STAR_PATTERN =
  /\b(\w+)\.\*|\bselect\s+\*\s+from\s+(\w+)|\breturning\s+\*|\b(?:to_jsonb?|row_to_json)\s*\(\s*(\w+)\s*\)|^\s*table\s+(\w+)/gi

/**
 * A statement must name its columns. With a star, a prepared statement fails once its table has a new column, and could
 * also read a secret column by mistake.
 */
export const NAMED_COLUMNS: Rule = {
  name: 'a statement names the columns that it reads of a table',
  check: (tree) => {
    const migrations = tree.texts.filter(({ path }) => path.startsWith('server/migrations/'))
    const tables = new Set(
      migrations.flatMap(({ text }) => [...text.matchAll(CREATED_TABLE_PATTERN)].map(([, name]) => name)),
    )
    return eachString(
      tree,
      (module) => isServer(module) && maySpeakSql(module.path),
      (text, module) => {
        const sources = module.strings.flatMap((string) => [...string.text.matchAll(SOURCE_PATTERN)])
        const names = new Set(sources.flatMap(([, table, alias]) => (tables.has(table) ? [table, alias] : [])))
        for (const [star, ...sourcesOfStar] of text.matchAll(STAR_PATTERN)) {
          const of = sourcesOfStar.find((name) => name !== undefined)
          if (of === undefined || names.has(of) || (tables.has(of) && /^\s*table\b/i.test(star)))
            return `\`${star}\` reads whatever columns the table has: name those that are needed`
        }
        return null
      },
    )
  },
}

const TOP_LEVEL_PATTERN = /^(?:export )?(?:async )?(?:function|const) (\w+)/gm

/** The statement of `markRevoked` is `mark_grant_revoked`. So a name in PostgreSQL's statistics leads to its function. */
export const STATEMENT_VERBS: Rule = {
  name: 'the name of a statement begins with the verb of its function',
  check: (tree) =>
    tree.modules
      .filter((module) => isServer(module) && maySpeakSql(module.path))
      .flatMap((module) => {
        const names = module.strings.filter(({ start }) => /\bname:\s*$/.test(module.code.slice(0, start)))
        const owners = [...module.code.matchAll(TOP_LEVEL_PATTERN)]
        return names.flatMap(({ text, start }) => {
          const owner = owners.findLast(({ index }) => index < start)?.[1] ?? ''
          const [verb] = /^[a-z]+/.exec(owner) ?? []
          if (verb === undefined || !/^[a-z]+_/.test(text) || text.startsWith(`${verb}_`)) return []
          const message = `\`${text}\` is the statement of \`${owner}\`: begin both names with the same verb`
          return [{ path: module.path, line: lineAt(module.text, start), message }]
        })
      }),
}

function eachString(
  tree: SourceTree,
  holdsIn: (module: Module) => boolean,
  findFault: (text: string, module: Module) => string | null,
): Violation[] {
  return tree.modules.filter(holdsIn).flatMap((module) =>
    module.strings.flatMap(({ text, start }) => {
      const message = findFault(text, module)
      return message === null ? [] : [{ path: module.path, line: lineAt(module.text, start), message }]
    }),
  )
}
