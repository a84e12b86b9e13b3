import { banInCode, type Rule } from '../rule.ts'

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

export const SMALL_FILES: Rule = {
  name: `no file has more than ${FILE_LINES_MAX} lines`,
  check: (tree) =>
    tree.texts
      .filter(({ path }) => SIZED_PATTERN.test(path) && !LONG_FILES.has(path))
      .map(({ path, text }) => ({ path, line: text.trimEnd().split('\n').length }))
      .filter(({ line }) => line > FILE_LINES_MAX)
      .map(({ path, line }) => ({ path, line, message: `more than ${FILE_LINES_MAX} lines: give each thing a file` })),
}
