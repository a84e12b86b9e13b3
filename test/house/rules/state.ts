import { isServer, type Rule, type Violation } from '../rule.ts'
import { lineAt, type Module } from '../source-tree.ts'

/** Files that keep something in variables of the module. Each has its reason. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['server/src/lib/ids.ts', 'random bytes that were drawn ahead; they belong to nobody'],
  ['server/src/lib/shared-steps.ts', 'the timers of the process, which all of its loops share'],
  ['server/src/api/authenticate.ts', 'labels of hooks, which are written while the routes are declared'],
])

/** A variable at the left margin, up to the next line there that is not the end of a bracket. */
const DECLARATION = /^(?:export )?(?<kind>const|let|var) (?<name>\w+)[^\n]*(?:\n(?![^\s})\]])[^\n]*)*/gm
/** Maps with weak keys are always written to. In a function they belong to what the function made. */
const WEAK = /^(?:(?!=>)[\s\S])*\bnew Weak(?:Map|Set)\b/
const WRITES = String.raw`\s*\.\s*(?:set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)\s*\(`
const ASSIGNMENTS = String.raw`(?:\.\w+|\[[^\]\n]*\])+\s*(?:(?:[-+*/%|&^?]|\*\*|\|\||&&|\?\?)?=(?![=>])|\+\+|--)`

/** What lives as long as the process is a field of `Context`, or belongs to an object that `service.ts` makes. */
export const NO_MODULE_STATE: Rule = {
  name: 'no file of the server keeps state in variables of the module',
  check: (tree) =>
    tree.modules.filter((module) => isServer(module) && !ALLOWED.has(module.path)).flatMap((module) => check(module)),
}

function check({ path, text, code }: Module): Violation[] {
  return [...code.matchAll(DECLARATION)].flatMap((found) => {
    const { kind, name = '' } = found.groups ?? {}
    const isChanged = new RegExp(`(?<![.\\w$])${name}(?:${WRITES}|${ASSIGNMENTS})`).test(code)
    if (kind === 'const' && !WEAK.test(found[0]) && !isChanged) return []
    const message = `\`${name}\` is state of the module: put it into Context, made in service.ts, so that two services in one process do not share it`
    return [{ path, line: lineAt(text, found.index), message }]
  })
}
