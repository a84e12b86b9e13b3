const SERVER = 'server/src/'

/**
 * Returns the room of a server's file. Each folder directly in `server/src` is a room, and so is each folder directly
 * in `domain/`. For example, `server/src/domain/grants/decide-limits.ts` is in `domain/grants`, and
 * `server/src/lib/clock.ts` is in `lib`. A file directly in `domain/` is in the room `domain`.
 */
export function roomOf(path: string): string {
  const [first = '', second = ''] = path.slice(SERVER.length).split('/')
  if (first !== 'domain') return first
  return second.endsWith('.ts') ? 'domain' : `domain/${second}`
}
