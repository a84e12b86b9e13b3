import { isServer, type Rule, type Violation } from '../rule.ts'
import { lineAt, type Module, type SourceTree } from '../source-tree.ts'

/** Files outside `domain/` that must be pure: they only decide or describe (ARCHITECTURE.md, "Pure files"). */
const PURE_PATTERN =
  /^server\/src\/(?:values\/.+|(?:.+\/)?decide-[a-z-]+|chain\/settlement|console\/contract\/.+|enclave\/privy\/(?:terms|send-outcome|signing-outcome))\.ts$/
/**
 * Files in `domain/`. They must be pure, except stores and files whose names begin with a verb, such as
 * `create-payment.ts` or `sign-in.ts`.
 */
const DOMAIN_PATTERN = /^server\/src\/domain\/[a-z-]+\/(?:[a-z-]+\/)*(?<name>[a-z0-9-]+)\.ts$/
const ACTING_WORDS =
  'accept add append ask authenticate cancel change check choose claim clean compare confirm count create delete end enforce exchange fail ' +
  'find finish follow get hold is issue join keep label list lock make open pay preview read reconcile record recover refresh register release ' +
  'remove rename replay require reseal reserve resolve resume retire revoke rotate save select send settle sign stop submit suspend take trace trim verify ' +
  'wait walk with work'
const ACTING_PATTERN = new RegExp(String.raw`^(?:${ACTING_WORDS.replaceAll(' ', '|')})-|(?:^|-)store$|^queries$`)
/** Files that need not be pure, although they have names of pure files. Each has its reason. */
const ACTING_FILES: ReadonlyMap<string, string> = new Map([
  [
    'server/src/domain/connections/decide-authorization-request.ts',
    'the user decides here; it stores what they decided',
  ],
  ['server/src/domain/wallets/owner-passkey.ts', 'the library that verifies signatures is asynchronous'],
])
/** Node modules and packages that only compute, so a pure file may import them. */
const PURE_PACKAGES = new Set(['node:buffer', 'node:crypto', 'node:util', 'node:zlib', 'typebox', 'viem', 'viem/utils'])
const LOW_PATTERN = /^server\/src\/(?:lib|chain|enclave|x402)\//
const CLOCK_FILE = 'server/src/lib/clock.ts'
const ASYNC_PATTERN = /\b(?:async|await|Promise)\b/
/** Matches globals that read or change something outside the file. */
const AMBIENT_PATTERN =
  /(?<![.\w$])(?:(?:fetch|setTimeout|setInterval|setImmediate|queueMicrotask)\s*\(|(?:process|globalThis|crypto)\s*[.[])/
/**
 * Matches functions that make random values. Files that decide must not use them. Other pure files may use them to
 * create ids and secrets.
 */
const RANDOM_PATTERN = /\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/

export const PURE_FILES: Rule = {
  name: 'pure files import pure files only (or types), and wait for nothing',
  check: (tree) =>
    tree.modules
      .filter((module) => isServer(module) && mustBePure(module.path))
      .flatMap((module) => [...checkImports(module, tree), ...checkCode(module)]),
}

function mustBePure(path: string): boolean {
  if (ACTING_FILES.has(path)) return false
  const name = DOMAIN_PATTERN.exec(path)?.groups?.['name']
  return PURE_PATTERN.test(path) || (name !== undefined && !ACTING_PATTERN.test(name))
}

function checkImports(module: Module, tree: SourceTree): Violation[] {
  return module.imports
    .filter(({ specifier, target, typeOnly }) => {
      // A type may be imported, because that has no effect at run time. The clock's type may not be imported, because a
      // pure file receives a time, not a clock.
      if (typeOnly && target !== CLOCK_FILE) return false
      return target === null ? !PURE_PACKAGES.has(specifier) : !isPure(target, tree)
    })
    .map(({ specifier, line }) => ({
      path: module.path,
      line,
      message: `a pure file may not import \`${specifier}\`, which reads or does something: take it as an argument, or move this to an operation`,
    }))
}

function checkCode(module: Module): Violation[] {
  const isDeciding = /\/(?:decide-[^/]+|policy)\.ts$/.test(module.path)
  return [
    findInCode(module, ASYNC_PATTERN, 'move the waiting to an operation and hand its result in'),
    findInCode(module, AMBIENT_PATTERN, 'move this to an operation and hand its result in'),
    isDeciding ? findInCode(module, RANDOM_PATTERN, 'take the random value as an argument') : [],
  ].flat()
}

function findInCode({ path, text, code }: Module, pattern: RegExp, instead: string): Violation[] {
  const match = pattern.exec(code)
  if (match === null) return []
  return [{ path, line: lineAt(text, match.index), message: `a pure file has no \`${match[0]}\`: ${instead}` }]
}

/**
 * Returns whether a file of the lowest rooms (`LOW_PATTERN`) is pure. A file is pure if it and everything that it
 * imports only compute. The clock is never pure.
 */
function isPure(path: string, tree: SourceTree, seen: ReadonlySet<string> = new Set()): boolean {
  if (mustBePure(path) || seen.has(path)) return true
  const module = tree.modules.find((candidate) => candidate.path === path)
  if (module === undefined || !LOW_PATTERN.test(path) || path === CLOCK_FILE || ASYNC_PATTERN.test(module.code))
    return false
  const seenHere = new Set([...seen, path])
  return module.imports.every(({ specifier, target }) =>
    target === null ? PURE_PACKAGES.has(specifier) : isPure(target, tree, seenHere),
  )
}
