import { banInCode, isServer, type Rule } from '../rule.ts'
import { lineAt } from '../source-tree.ts'

/** A file may have at most this many lines. A longer file usually has more than one purpose. */
const FILE_LINES_MAX = 400
const SIZED_PATTERN = /\.(?:[cm]?[jt]sx?|sql|sol|html|css)$/
/** Files that may be longer. Each has its reason. */
const LONG_FILES: ReadonlyMap<string, string> = new Map([
  ['server/schema.sql', 'generated'],
  ['server/src/db/tables.ts', 'generated'],
  ['sdk/src/api-types.ts', 'generated'],
])
/** Files that must have a default export, with the tool that requires it. */
const DEFAULT_EXPORT_FILES: ReadonlyMap<string, string> = new Map([['dashboard/vite.config.ts', 'vite']])

/** The file that names what a package exports. Programs outside the project import the package by its name. */
const PACKAGE_ENTRIES = ['sdk/src/main.ts']

export const NO_BARRELS: Rule = {
  name: 'no file only passes on what others export',
  check: (tree) =>
    tree.modules
      .filter(({ path }) => !PACKAGE_ENTRIES.includes(path))
      .filter(({ path, isBarrel }) => /(?:^|\/)index\.[cm]?[jt]sx?$/.test(path) || isBarrel)
      .map(({ path }) => ({
        path,
        line: 1,
        message: 'a barrel: import the file that holds the thing by its own name',
      })),
}

export const NO_EXPORT_ALL = banInCode({
  name: 'no file exports everything of another',
  pattern: /(?<![.\w$])export\s*(?:type\s*)?\*/,
  instead: 'import the file that holds the thing by its own name',
  holdsIn: () => true,
})

export const NO_DEFAULT_EXPORTS = banInCode({
  name: 'no default exports',
  pattern: /(?<![.\w$])export\s+default\b|(?<![.\w$])export\s*\{[^{}]*(?:\bas\s+default\b|\bdefault\s*[,}])/,
  instead: 'export it by the name of its file',
  holdsIn: ({ path }) => !DEFAULT_EXPORT_FILES.has(path),
})

const EXPORT_PATTERN = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm
/** The types of the dashboard's API. Each has the name of the domain's type that it shows. */
const CONTRACT_FOLDER = 'server/src/console/contract/'

export const NO_TWINS: Rule = {
  name: 'an exported name means one thing in the whole server',
  check: (tree) => {
    const owners = new Map<string, string>()
    return tree.modules
      .filter((module) => isServer(module) && !module.path.startsWith(CONTRACT_FOLDER))
      .flatMap((module) =>
        [...module.code.matchAll(EXPORT_PATTERN)].flatMap(({ index, 1: name = '' }) => {
          const owner = owners.get(name)
          owners.set(name, owner ?? module.path)
          if (owner === undefined || owner === module.path) return []
          const message = `\`${name}\` is exported by ${owner} too: give one of them a name that says what it is`
          return [{ path: module.path, line: lineAt(module.text, index), message }]
        }),
      )
  },
}

export const SMALL_FILES: Rule = {
  name: `no file has more than ${FILE_LINES_MAX} lines`,
  check: (tree) =>
    tree.texts
      .filter(({ path }) => SIZED_PATTERN.test(path) && !LONG_FILES.has(path))
      .map(({ path, text }) => ({ path, line: text.trimEnd().split('\n').length }))
      .filter(({ line }) => line > FILE_LINES_MAX)
      .map(({ path, line }) => ({ path, line, message: `more than ${FILE_LINES_MAX} lines: give each thing a file` })),
}
