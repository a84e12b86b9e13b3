import { isServer, type Rule } from '../rule.ts'
import { lineAt } from '../source-tree.ts'

/** The file that makes all queries for logs, and the doctor, which measures what a node allows. */
const QUERYING_FILES = ['server/src/chain/log-query.ts', 'server/src/doctor/check-node.ts']

export const ONE_LOG_QUERY: Rule = {
  name: 'logs are read in chain/log-query.ts only',
  check: (tree) =>
    tree.modules
      .filter((module) => isServer(module) && !QUERYING_FILES.includes(module.path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\beth_(?:getLogs|newFilter|getFilterLogs)\b/g)].map((match) => ({
          path,
          line: lineAt(text, match.index),
          message: `\`${match[0]}\` is banned here: call readLogs of chain/log-query.ts in readFirstBlocks of chain/block-ranges.ts, because an empty list proves nothing, and nodes limit the blocks of a query`,
        })),
      ),
}
