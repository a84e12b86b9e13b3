import type { Module, SourceTree } from './source-tree.ts'
import { lineAt } from './source-tree.ts'

export interface Violation {
  readonly path: string
  /** The first line is 1. */
  readonly line: number
  /** The fault, and the code to write instead. */
  readonly message: string
}

/** A rule of the house. Its name is a sentence. */
export interface Rule {
  readonly name: string
  check(tree: SourceTree): readonly Violation[]
}

export interface Ban {
  readonly name: string
  readonly pattern: RegExp
  /** The code to use instead. The message ends with it. */
  readonly instead: string
  /** Whether the ban applies to this file. */
  holdsIn(module: Module): boolean
}

/** Makes a rule that bans a pattern in code. Comments and strings do not count. */
export function banInCode(ban: Ban): Rule {
  const pattern = new RegExp(ban.pattern, `g${ban.pattern.flags.replace('g', '')}`)
  return {
    name: ban.name,
    check: (tree) =>
      tree.modules
        .filter((module) => ban.holdsIn(module))
        .flatMap((module) =>
          [...module.code.matchAll(pattern)].map((match) => ({
            path: module.path,
            line: lineAt(module.text, match.index),
            message: `\`${match[0].trim()}\` is banned here: ${ban.instead}`,
          })),
        ),
  }
}

/** Whether the file ships with the server or the sandbox. Tests and tools do not. */
export function isShipped(module: Module): boolean {
  return /^(?:server|sandbox)\/src\//.test(module.path) && !module.isTest
}

export function isServer(module: Module): boolean {
  return module.path.startsWith('server/src/') && !module.isTest
}

export function formatViolation({ path, line, message }: Violation): string {
  return `${path}:${line}  ${message}`
}
