import type { Rule, Violation } from '../rule.ts'
import type { Module, SourceTree } from '../source-tree.ts'

/**
 * Files that are started as programs. Every file in the folder that `owns` names must be imported by a program,
 * directly or indirectly.
 */
const PROGRAMS: readonly { readonly entry: string; readonly owns: string }[] = [
  { entry: 'server/src/main.ts', owns: 'server/src/' },
  { entry: 'server/src/migrate.ts', owns: 'server/src/migrate.ts' },
  { entry: 'server/src/invite.ts', owns: 'server/src/invite.ts' },
  { entry: 'server/src/doctor/main.ts', owns: 'server/src/doctor/' },
  { entry: 'server/src/after-restore/main.ts', owns: 'server/src/after-restore/' },
  { entry: 'server/src/lost-key/main.ts', owns: 'server/src/lost-key/' },
  { entry: 'server/src/move-workspace/main.ts', owns: 'server/src/move-workspace/' },
  { entry: 'server/src/provider-check/main.ts', owns: 'server/src/provider-check/' },
  { entry: 'dashboard/src/main.tsx', owns: 'dashboard/src/' },
  { entry: 'sdk/src/main.ts', owns: 'sdk/src/' },
  { entry: 'cli/src/main.ts', owns: 'cli/src/' },
  { entry: 'sandbox/src/main.ts', owns: 'sandbox/src/' },
  { entry: 'sandbox/src/reset.ts', owns: 'sandbox/src/' },
  { entry: 'sandbox/src/print-environment.ts', owns: 'sandbox/src/' },
  { entry: 'sandbox/src/demo/main.ts', owns: 'sandbox/src/' },
]
/** Every file in these folders is a separate program. */
const ENTRY_PATTERN = /^(?:scripts|(?:sandbox|sdk|server)\/scripts)\/|^bench\/[^/]+$/

export const NO_CYCLES: Rule = {
  name: 'no import circle, types included',
  check: (tree) => {
    const byPath = new Map(tree.modules.map((module) => [module.path, module]))
    const done = new Set<string>()
    return tree.modules.flatMap((module) => findCircles(module, byPath, done, []))
  },
}

export const NO_DEAD_FILES: Rule = {
  name: 'no file that no program imports',
  check: (tree) => {
    const started = PROGRAMS.filter(({ entry }) => tree.modules.some(({ path }) => path === entry))
    const shipped = reachFrom(tree, (module) => isEntry(module.path) && !module.isTest)
    const tested = reachFrom(tree, (module) => isEntry(module.path) || module.path.endsWith('.test.ts'))
    return tree.modules
      .filter(({ path, isTest }) => {
        if (isTest) return !tested.has(path)
        return started.some(({ owns }) => path.startsWith(owns)) && !shipped.has(path)
      })
      .map(({ path, isTest }) => ({
        path,
        line: 1,
        message: isTest
          ? 'no test uses this file: delete it'
          : 'no program imports this file (a test does not count): delete it, or move it to test/',
      }))
  },
}

function isEntry(path: string): boolean {
  return ENTRY_PATTERN.test(path) || PROGRAMS.some(({ entry }) => entry === path)
}

/**
 * Searches for import circles, depth first. Each file is entered once, so the time is linear. A circle is reported at
 * the import that closes it.
 */
function findCircles(
  module: Module,
  byPath: ReadonlyMap<string, Module>,
  done: Set<string>,
  trail: readonly string[],
): Violation[] {
  if (done.has(module.path)) return []
  const here = [...trail, module.path]
  const found = module.imports.flatMap(({ target, line, kind }) => {
    const next = target === null || kind === 'url' ? undefined : byPath.get(target)
    if (next === undefined) return []
    const start = here.indexOf(next.path)
    if (start < 0) return findCircles(next, byPath, done, here)
    const circle = [...here.slice(start), next.path].join(' → ')
    const message = `an import circle: ${circle}; move what both need into a file of its own below them`
    return [{ path: module.path, line, message }]
  })
  done.add(module.path)
  return found
}

function reachFrom(tree: SourceTree, isStart: (module: Module) => boolean): ReadonlySet<string> {
  const byPath = new Map(tree.modules.map((module) => [module.path, module]))
  const reached = new Set<string>()
  const queue = tree.modules.filter(isStart)
  for (const module of queue) {
    if (reached.has(module.path)) continue
    reached.add(module.path)
    for (const { target } of module.imports) {
      const next = target === null ? undefined : byPath.get(target)
      if (next !== undefined) queue.push(next)
    }
  }
  return reached
}
