import type { Mode } from '@bursar/server/src/console/contract/fields.ts'

/** The path of a page of a workspace. Each part is escaped, because IDs may contain any character. */
export function pathTo(slug: string, mode: Mode, ...parts: readonly string[]): string {
  return ['/w', ...[slug, mode, ...parts].map(encodeURIComponent)].join('/')
}

export function isMode(text: string | undefined): text is Mode {
  return text === 'test' || text === 'live'
}

/**
 * The number of parts after the mode, in the path of a page, that identify a list. The key is the first of these parts,
 * and the default is 1. Further parts identify an entry of the list. A list exists in both modes, but each entry
 * belongs to only one mode.
 */
const SECTIONS_DEPTH: Readonly<Record<string, number>> = { developers: 2 }

/** The page at `pathname` shows a list or an entry of one. Returns the path of this list in another mode. */
export function inMode(pathname: string, slug: string, mode: Mode): string {
  const [, , , , ...parts] = pathname.split('/')
  const depth = SECTIONS_DEPTH[parts[0] ?? ''] ?? 1
  return [pathTo(slug, mode), ...parts.slice(0, depth)].filter((part) => part !== '').join('/')
}

/** The same page in another mode, with the same entry. */
export function samePageIn(pathname: string, slug: string, mode: Mode): string {
  const [, , , , ...parts] = pathname.split('/')
  return [pathTo(slug, mode), ...parts].join('/')
}
