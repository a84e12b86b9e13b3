const SERVER = 'server/src/'

/**
 * Returns the room of a file of the server: `domain/grants` for `server/src/domain/grants/decide-limits.ts`, `lib` for
 * `server/src/lib/clock.ts`, and `domain` for a file directly in `domain/`.
 */
export function roomOf(path: string): string {
  const [first = '', second = ''] = path.slice(SERVER.length).split('/')
  if (first !== 'domain') return first
  return second.endsWith('.ts') ? 'domain' : `domain/${second}`
}
