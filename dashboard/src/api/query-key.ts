import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { PathInput } from './build-path.ts'

/** The beginning of the key of every query that is fetched again when the server announces a change. */
export function liveKey(slug: string, mode: Mode): readonly ['workspaces', string, Mode] {
  return ['workspaces', slug, mode]
}

/**
 * Returns the key of a query: the parts of the path, then the mode and the other members of the query string. In a key
 * with `live`, the mode follows the workspace, so that the key begins with `liveKey`.
 */
export function keyOf(name: string, { params = {}, query: filter = {} }: PathInput, live?: Mode): readonly unknown[] {
  // A name is `GET /console/workspaces/:slug/…`.
  const [, , ...parts] = name.split('/').map((part) => (part.startsWith(':') ? params[part.slice(1)] : part))
  const { mode, ...others } = filter
  const rest = Object.keys(others).length === 0 ? [] : [others]
  if (live !== undefined) return [...parts.slice(0, 2), live, ...parts.slice(2), ...rest]
  return [...parts, ...(mode === undefined ? [] : [mode]), ...rest]
}

/** The beginning of the key of every query for deliveries. */
export function deliveriesKey(slug: string, mode: Mode) {
  return [...liveKey(slug, mode), 'deliveries'] as const
}
