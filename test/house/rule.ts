import type { Module, SourceTree } from './source-tree.ts'
import { lineAt } from './source-tree.ts'

export interface Violation {
  readonly path: string
  /** The number of the line. The first line is 1. */
  readonly line: number
  /** The fault, and what to write instead. */
  readonly message: string
}

/** A rule that all source files must follow. Its name is a sentence. */
export interface Rule {
  readonly name: string
  check(tree: SourceTree): readonly Violation[]
}

export interface Ban {
  readonly name: string
  readonly pattern: RegExp
  /** What to write instead. It is the end of the violation's message. */
  readonly instead: string
  /** Returns whether the ban applies to this file. */
  holdsIn(module: Module): boolean
}

/** Makes a rule that bans a pattern in code. Comments and strings are ignored. */
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

/** Returns whether the file belongs to the running server or sandbox. Tests and tools do not. */
export function isShipped(module: Module): boolean {
  return /^(?:server|sandbox)\/src\//.test(module.path) && !module.isTest
}

export function isServer(module: Module): boolean {
  return module.path.startsWith('server/src/') && !module.isTest
}

export function formatViolation({ path, line, message }: Violation): string {
  return `${path}:${line}  ${message}`
}
