import { dirname } from 'node:path/posix'
import { isServer, type Rule } from '../rule.ts'
import { roomOf } from '../room.ts'

/** About what a person can read in one sitting. */
const ROOM_LINES_MAX = 1_600
/** Rooms that are larger today, each with a limit of its own so that it does not grow. */
const LARGER_ROOMS: ReadonlyMap<string, number> = new Map([['domain/payments', 1_950]])
/** A folder inside a door counts as a room of its own: the endpoints, which do not import each other, and the contract. */
const DOOR_FOLDER_PATTERN = /^server\/src\/(?<room>(?:api|oauth|console|mcp)\/[\w-]+)\//
/** Blank lines and comments. */
const NO_CODE_PATTERN = /^\s*(?:\/\/.*|\/?\*.*)?$/

export const SMALL_ROOMS: Rule = {
  name: `no room of the server has more than ${ROOM_LINES_MAX} lines of code, tests apart`,
  check: (tree) => {
    const lines = new Map<string, number>()
    return tree.modules.filter(isServer).flatMap(({ path, text }) => {
      const room = DOOR_FOLDER_PATTERN.exec(path)?.groups?.['room'] ?? roomOf(path)
      const before = lines.get(room) ?? 0
      const now = before + text.split('\n').filter((line) => !NO_CODE_PATTERN.test(line)).length
      lines.set(room, now)
      const linesMax = LARGER_ROOMS.get(room) ?? ROOM_LINES_MAX
      if (before > linesMax || now <= linesMax) return []
      const message = `\`${room}\` has more than ${linesMax} lines of code: give one of its nouns a room of its own`
      return [{ path, line: 1, message }]
    })
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
