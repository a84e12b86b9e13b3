import { dirname } from 'node:path/posix'
import type { Rule } from '../rule.ts'

/** A folder with more files than this usually has more than one subject. */
const FOLDER_FILES_MAX = 40

export const SMALL_FOLDERS: Rule = {
  name: `no folder of the server has more than ${FOLDER_FILES_MAX} files, tests apart`,
  check: (tree) => {
    const paths = tree.texts.map(({ path }) => path).filter((path) => path.startsWith('server/src/'))
    const folders = Map.groupBy(
      paths.filter((path) => !path.includes('.test.')),
      dirname,
    )
    return [...folders].flatMap(([folder, [path = '', ...others]]) =>
      others.length < FOLDER_FILES_MAX
        ? []
        : [{ path, line: 1, message: `${folder}/ has more than ${FOLDER_FILES_MAX} files: does it have one subject?` }],
    )
  },
}

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
