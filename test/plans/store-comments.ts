import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('../../server/src/', import.meta.url))
const STORES = ['**/*store.ts', 'db/*.ts']
/** A declaration at the top level of a file, with the comment directly before it. */
const DECLARATION = /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^(?:export )?(?:async )?(?:const|function) (\w+)/gm
/** The name of a statement; see the same pattern in `test/contract/every-statement.ts`. */
const NAME = /\bname: '(\w+)'|\bname: `([^`]+)`|\btextOfMode\(\s*'(\w+)'/g

interface Declaration {
  readonly name: string
  readonly comment: string
  /** The words in its code. Each of them may be the name of another declaration. */
  readonly words: ReadonlySet<string>
  /** Patterns for the names of the statements in its code. */
  readonly statements: readonly RegExp[]
}

/** The comments of the stores, which name the indexes that each statement uses. */
export interface StoreComments {
  /**
   * Returns the comments that describe a statement: those of the function that makes it, and of the parts of its text.
   */
  readonly commentsOf: (statement: string) => readonly string[]
  /** All comments of the stores. */
  readonly comments: readonly string[]
}

export function readStoreComments(): StoreComments {
  const files = globSync(STORES, { cwd: SERVER }).map((path) =>
    readDeclarations(readFileSync(`${SERVER}${path}`, 'utf8')),
  )
  const declarations = files.flat()
  const all = byName(declarations)
  return {
    comments: declarations.map(({ comment }) => comment),
    commentsOf: (statement) => {
      const found = files.flatMap((own) => {
        const makers = own.filter(({ statements }) => statements.some((pattern) => pattern.test(statement)))
        return [...new Set(makers.flatMap((maker) => related(maker, own, all)))]
      })
      return found.map(({ comment }) => comment)
    },
  }
}

/** Returns the names in backticks. */
export function namesInBackticks(comment: string): string[] {
  return [...comment.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
}

function readDeclarations(text: string): Declaration[] {
  const found = [...text.matchAll(DECLARATION)]
  return found.map(({ index, 1: comment = '', 2: name = '' }, place) => {
    const body = text.slice(index, found[place + 1]?.index).replace(/^\/\*\*[\s\S]*?\*\//, '')
    return { name, comment, words: new Set(body.match(/\b\w+\b/g)), statements: namesIn(body) }
  })
}

function namesIn(body: string): RegExp[] {
  return [...body.matchAll(NAME)].map(([, name, template, ofMode]) => {
    const pattern = name ?? template?.replaceAll(/\$\{[^}]*\}/g, String.raw`\w+`) ?? `${ofMode}_(?:test|live)`
    return new RegExp(`^${pattern}$`)
  })
}

/**
 * Returns `maker`, the declarations of its file that use it, and all declarations that these mention, directly or
 * indirectly. The declarations that use `maker` are included because it may be only the text of a statement.
 */
function related(
  maker: Declaration,
  own: readonly Declaration[],
  all: ReadonlyMap<string, Declaration>,
): Declaration[] {
  const inFile = byName(own)
  const found = new Set([maker, ...own.filter(({ words }) => words.has(maker.name))])
  for (const { words } of found) {
    for (const word of words) {
      const match = inFile.get(word) ?? all.get(word)
      if (match !== undefined) found.add(match)
    }
  }
  return [...found]
}

/** Maps each name to its declaration. If several files declare a name, the first one counts. */
function byName(declarations: readonly Declaration[]): Map<string, Declaration> {
  return new Map(declarations.toReversed().map((declaration) => [declaration.name, declaration]))
}
