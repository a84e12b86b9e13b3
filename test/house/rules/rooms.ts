import { dirname } from 'node:path/posix'
import type { Rule } from '../rule.ts'

export const NO_SINGLE_FILES: Rule = {
  name: 'no folder of the server holds a single file, tests apart',
  check: (tree) => {
    const paths = tree.texts.map(({ path }) => path).filter((path) => path.startsWith('server/src/'))
    const folders = Map.groupBy(
      paths.filter((path) => !path.includes('.test.')),
      dirname,
    )
    return [...folders].flatMap(([folder, [path = '', ...others]]) =>
      others.length > 0
        ? []
        : [{ path, line: 1, message: `the only file in ${folder}/: move it to the folder above, beside its users` }],
    )
  },
}
