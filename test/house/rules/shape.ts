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

/** Files that may cut a text by its code units, or that cut a list of characters. Each has its reason. */
const CUTTING_FILES: ReadonlyMap<string, string> = new Map([
  ['server/src/lib/cut-text.ts', 'it is the helper'],
  ['server/src/lib/ids.ts', 'an id is ASCII'],
  ['server/src/domain/sessions/session.ts', 'a hash is ASCII'],
  ['server/src/domain/accounts/account.ts', 'a slug is ASCII'],
  ['server/src/provider-check/check-signatures.ts', 'the code of a contract is ASCII'],
  ['server/src/provider-check/run-provider-check.ts', 'a random id is ASCII'],
  ['sandbox/src/enclave/decide-policy.ts', 'calldata is ASCII'],
  ['sandbox/src/demo/printer.ts', 'the demo prints answers of its own workspace'],
  ['dashboard/src/format/address.ts', 'an address is ASCII'],
  ['signer/src/clean-text.ts', 'it cuts a list of characters, because the signer page imports nothing'],
])

export const WHOLE_CHARACTERS = banInCode({
  name: 'no text is cut inside a character',
  pattern:
    /(?<!toISOString\(\))\.(?:slice|substring|substr)\s*\(\s*0\s*,(?!\s*-)\s*(?:\d[\d_]+|[^()]*(?:CHARS|CODE_POINTS)[^()]*)\)|\.(?:substring|substr)\s*\(/,
  instead: 'cutText or shortenText of lib/cut-text.ts, which count characters; or name the file in CUTTING_FILES',
  holdsIn: ({ path, isTest }) => /^\w+(?:\/site)?\/src\//.test(path) && !isTest && !CUTTING_FILES.has(path),
})

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
