const SERVER = 'server/src/'

/**
 * Returns the room of a server's file. A room is a folder of `server/src`; in `domain/`, each noun's folder is a room.
 * For example, `server/src/domain/grants/decide-limits.ts` is in `domain/grants`, and `server/src/lib/clock.ts` is in
 * `lib`. A file directly in `domain/` is in the room `domain`.
 */
export function roomOf(path: string): string {
  const [first = '', second = ''] = path.slice(SERVER.length).split('/')
  if (first !== 'domain') return first
  return second.endsWith('.ts') ? 'domain' : `domain/${second}`
}
