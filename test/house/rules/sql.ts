import { isServer, type Rule, type Violation } from '../rule.ts'
import { roomOf } from '../room.ts'
import { lineAt, type Module, type SourceTree } from '../source-tree.ts'

const STATEMENT_PATTERN = new RegExp(
  String.raw`^\s*(?:select\b[\s\S]*\b(?:from|for\s+update)\b|select\s+(?:\d|\$)|insert\s+into\s|update\s+[\w."]+\s+(?:as\s+\w+\s+|\w+\s+)?set\s|` +
    String.raw`delete\s+from\s|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\(|` +
    String.raw`merge\s+into\s|(?:create|alter|drop|lock|truncate)\s+(?:unique\s+)?(?:table|index|database|schema)\b|set\s+local\s|` +
    String.raw`(?:begin|commit|rollback)\s*;?\s*$)`,
  'i',
)
const SQL_CLOCK_PATTERN =
  /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)|\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b/i
const WRITE_PATTERN =
  /\b(?:insert\s+into|delete\s+from|update)\s+(?:only\s+)?"?([a-z_]+)"?\s+(?:as\s+\w+\s+|\w+\s+)?(?:set\b|\(|select\b|values\b|where\b|using\b|default\b)/gi

/** It compares the database's clock with ours, so it has to ask for it. Nothing that it reads is stored or decided on. */
const CLOCK_INSPECTOR = 'server/src/db/inspect-database.ts'

/** `store.ts`, or `grants-store.ts` beside the verbs that use it. */
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

/** D49: the database's clock can't be moved, and differs from the server's. */
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
        (module) => isServer(module) && maySpeakSql(module.path) && module.path !== CLOCK_INSPECTOR,
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
      (module) => isServer(module) && isStore(module.path),
      (text, module) => {
        const room = roomOf(module.path)
        for (const [, table = ''] of text.matchAll(WRITE_PATTERN)) {
          const owner = owners.get(table) ?? room
          owners.set(table, owner)
          if (owner !== room)
            return `\`${table}\` is written in ${owner} too: call a verb of the room that owns the table`
        }
        return null
      },
    )
  },
}

const CREATED_TABLE_PATTERN = /\bcreate\s+table\s+(\w+)/gi
const SOURCE_PATTERN = /\b(?:from|join|update|into)\s+(\w+)(?=(?:\s+(?:as\s+)?(\w+))?)/gi
const STAR_PATTERN = /\b(\w+)\.\*|\bselect\s+\*\s+from\s+(\w+)/gi

/** A prepared statement whose result gains a column fails; and a secret column is never read by accident. */
export const NAMED_COLUMNS: Rule = {
  name: 'a statement names the columns that it reads of a table',
  check: (tree) => {
    const migrations = tree.texts.filter(({ path }) => path.startsWith('server/migrations/'))
    const tables = new Set(
      migrations.flatMap(({ text }) => [...text.matchAll(CREATED_TABLE_PATTERN)].map(([, name]) => name)),
    )
    return eachString(
      tree,
      (module) => isServer(module) && isStore(module.path),
      (text, module) => {
        const sources = module.strings.flatMap((string) => [...string.text.matchAll(SOURCE_PATTERN)])
        const names = new Set(sources.flatMap(([, table, alias]) => (tables.has(table) ? [table, alias] : [])))
        for (const [star, of, from] of text.matchAll(STAR_PATTERN)) {
          if (names.has(of ?? from))
            return `\`${star}\` reads whatever columns the table has: name those that are needed`
        }
        return null
      },
    )
  },
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
