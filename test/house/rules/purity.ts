import { isServer, type Rule, type Violation } from '../rule.ts'
import { lineAt, type Module, type SourceTree } from '../source-tree.ts'

/** A noun's own file decides and describes; it neither reads nor writes (ARCHITECTURE.md, "Pure files"). */
const PURE_PATTERN = new RegExp(
  '^server/src/(?:' +
    [
      'values/.+',
      'domain/[a-z]+/(?:agent|wallet|grant|payment|deposit|key|api-key|person|account|plan|event|policy|endpoint|delivery|client|connection|tokens|authorization-request|role|session|user|passkey|member|invitation)',
      'chain/settlement',
      'enclave/policy-rules',
    ].join('|') +
    String.raw`)\.ts$`,
)
/** Node modules and packages that only compute. */
const PURE_PACKAGES = new Set(['node:buffer', 'node:crypto', 'node:util', 'node:zlib', 'typebox', 'viem', 'viem/utils'])
const LOW_PATTERN = /^server\/src\/(?:lib|chain|enclave)\//
const CLOCK_FILE = 'server/src/lib/clock.ts'
const ASYNC_PATTERN = /\b(?:async|await|Promise)\b/

export const PURE_FILES: Rule = {
  name: 'pure files import pure files only (or types), and wait for nothing',
  check: (tree) =>
    tree.modules
      .filter((module) => isServer(module) && PURE_PATTERN.test(module.path))
      .flatMap((module) => [...checkImports(module, tree), ...checkAsync(module)]),
}

function checkImports(module: Module, tree: SourceTree): Violation[] {
  return module.imports
    .filter(({ specifier, target, typeOnly }) => {
      // A type does nothing, but a clock as an argument is still a clock.
      if (typeOnly && target !== CLOCK_FILE) return false
      return target === null ? !PURE_PACKAGES.has(specifier) : !isPure(target, tree)
    })
    .map(({ specifier, line }) => ({
      path: module.path,
      line,
      message: `a pure file may not import \`${specifier}\`, which reads or does something: take it as an argument, or move this to a verb`,
    }))
}

function checkAsync(module: Module): Violation[] {
  const match = ASYNC_PATTERN.exec(module.code)
  if (match === null) return []
  const message = `a pure file has no \`${match[0]}\`: move the waiting to a verb and hand its answer in`
  return [{ path: module.path, line: lineAt(module.text, match.index), message }]
}

/** A file of a low floor counts as pure while it, and all that it imports, only computes; the clock never does. */
function isPure(path: string, tree: SourceTree, seen: ReadonlySet<string> = new Set()): boolean {
  if (PURE_PATTERN.test(path) || seen.has(path)) return true
  const module = tree.modules.find((candidate) => candidate.path === path)
  if (module === undefined || !LOW_PATTERN.test(path) || path === CLOCK_FILE || ASYNC_PATTERN.test(module.code))
    return false
  const seenHere = new Set([...seen, path])
  return module.imports.every(({ specifier, target }) =>
    target === null ? PURE_PACKAGES.has(specifier) : isPure(target, tree, seenHere),
  )
}
