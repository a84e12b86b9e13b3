/** The folders whose folders are rooms of their own: the server's `domain/` and the dashboard's `pages/`. */
const DIVIDED = ['domain', 'pages']

/**
 * Returns the room of a file in the `src/` of a workspace. Each folder directly in `src/` is a room, and so is each
 * folder directly in `domain/` or `pages/`. For example, `server/src/domain/grants/decide-limits.ts` is in
 * `domain/grants`, and `server/src/lib/clock.ts` is in `lib`. A file directly in `domain/` is in the room `domain`.
 */
export function roomOf(path: string): string {
  const [, , first = '', second = ''] = path.split('/')
  if (!DIVIDED.includes(first)) return first
  return /\.tsx?$/.test(second) ? first : `${first}/${second}`
}
