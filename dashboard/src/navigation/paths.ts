import type { Mode } from '@bursar/server/src/console/contract/fields.ts'

/** Where a page of a workspace is, each part of the address escaped: ids may hold anything. */
export function pathTo(slug: string, mode: Mode, ...parts: readonly string[]): string {
  return ['/w', ...[slug, mode, ...parts].map(encodeURIComponent)].join('/')
}

export function isMode(text: string | undefined): text is Mode {
  return text === 'test' || text === 'live'
}

/** Lists whose entries belong to one mode: in the other mode there is no such entry, but there is such a list. */
const SECTIONS_DEPTH: Readonly<Record<string, number>> = { developers: 2 }

/** The address of the same list in another mode, for the page at `pathname`. */
export function inMode(pathname: string, slug: string, mode: Mode): string {
  const [, , , , ...parts] = pathname.split('/')
  const depth = SECTIONS_DEPTH[parts[0] ?? ''] ?? 1
  return [pathTo(slug, mode), ...parts.slice(0, depth)].filter((part) => part !== '').join('/')
}
