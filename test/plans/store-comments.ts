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
  readonly body: string
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
  const all = files.flat()
  return {
    comments: all.map(({ comment }) => comment),
    commentsOf: (statement) => {
      const found = files.flatMap((own) => {
        const makers = own.filter(({ body }) => namesIn(body).some((pattern) => pattern.test(statement)))
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
  return found.map(({ index, 1: comment = '', 2: name = '' }, place) => ({
    name,
    comment,
    body: text.slice(index, found[place + 1]?.index).replace(/^\/\*\*[\s\S]*?\*\//, ''),
  }))
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
function related(maker: Declaration, own: readonly Declaration[], all: readonly Declaration[]): Declaration[] {
  const found = new Set([maker, ...own.filter(({ body }) => mentions(body, maker.name))])
  for (const { body } of found) {
    for (const word of new Set(body.match(/\b[a-zA-Z_]\w+\b/g))) {
      const match = own.find(({ name }) => name === word) ?? all.find(({ name }) => name === word)
      if (match !== undefined) found.add(match)
    }
  }
  return [...found]
}

function mentions(body: string, name: string): boolean {
  return new RegExp(String.raw`\b${name}\b`).test(body)
}
