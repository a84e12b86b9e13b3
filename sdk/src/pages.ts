import { ConnectionError, NO_CONTEXT } from './errors.ts'

/** A page of a list, and the position of the next page, which is null after the last page. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

/**
 * Reads page after page, and yields each item. The next page is read when the caller needs it. Throws a
 * `ConnectionError` if a page names a position that was read before, because the list would never end.
 */
export async function* readPages<T>(
  start: string | undefined,
  readPage: (position: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  const read = new Set<string | undefined>()
  let position: string | null | undefined = start
  while (position !== null) {
    if (read.has(position)) throw repeatedPosition(position)
    read.add(position)
    const { items, next }: Page<T> = await readPage(position)
    yield* items
    position = next
  }
}

/** The position of the next page, for lists whose positions are the ids of their last items. */
export function positionAfter(hasMore: boolean, last: string | undefined): string | null {
  if (!hasMore) return null
  if (last === undefined)
    throw new ConnectionError('A page of the list is empty, but says that more follow.', NO_CONTEXT)
  return last
}

export function repeatedPosition(position: string | undefined): ConnectionError {
  const message = `The list repeats itself: after ${position ?? 'its beginning'}, the service returned this position again.`
  return new ConnectionError(message, NO_CONTEXT)
}

/** Makes the query of a path. Members that are undefined are left out. */
export function formatQuery(params: object): string {
  const entries = Object.entries(params).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const query = new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return query === '' ? '' : `?${query}`
}
