import { isServer, type Rule } from '../rule.ts'
import { lineAt } from '../source-tree.ts'

/** The list of all pools of a process. */
const LIST = 'server/src/lib/pools.ts'

export const ONE_LIST_OF_POOLS: Rule = {
  name: 'pools are made in lib/pools.ts only',
  check: (tree) =>
    tree.modules
      .filter((module) => isServer(module) && module.path !== LIST)
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\bnew (FairPlaces|SharedBytes)\b/g)].map((match) => ({
          path,
          line: lineAt(text, match.index),
          message: `new ${match[1]} is banned here: add the pool to ${LIST} and to the tables of D91 in docs/specification.md, which say who may hold what it shares out, and for how long`,
        })),
      ),
}
