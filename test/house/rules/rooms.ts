import { dirname } from 'node:path/posix'
import { isServer, type Rule } from '../rule.ts'

/** The most lines of code in one room (a folder, see `roomOf`). A person can read about as much in one sitting. */
const ROOM_LINES_MAX = 1_600
/** Matches blank lines and comments. */
const NO_CODE_PATTERN = /^\s*(?:\/\/.*|\/?\*.*)?$/

export const SMALL_ROOMS: Rule = {
  name: `no room of the server has more than ${ROOM_LINES_MAX} lines of code, tests apart`,
  check: (tree) => {
    const lines = new Map<string, number>()
    return tree.modules
      .filter(isServer)
      .filter(isWritten)
      .flatMap(({ path, text }) => {
        const room = roomOf(path)
        const before = lines.get(room) ?? 0
        const now = before + text.split('\n').filter((line) => !NO_CODE_PATTERN.test(line)).length
        lines.set(room, now)
        if (before > ROOM_LINES_MAX || now <= ROOM_LINES_MAX) return []
        const message = `\`${room}\` has more than ${ROOM_LINES_MAX} lines of code: give one of its nouns a room of its own`
        return [{ path, line: 1, message }]
      })
  },
}

/** Returns false for the list of tables, which `npm run schema` generates and nobody reads from top to bottom. */
function isWritten({ path }: { readonly path: string }): boolean {
  return path !== 'server/src/db/tables.ts'
}

/** Returns the room of a file, which is its folder. In `domain/`, a sub-folder belongs to the room of its parent. */
function roomOf(path: string): string {
  return /^server\/src\/domain\/[^/]+(?=\/)/.exec(path)?.[0] ?? dirname(path)
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
