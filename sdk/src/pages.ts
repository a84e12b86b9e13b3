/** A page of a list, and the position of the next page, which is null after the last page. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

/** Reads page after page, and yields each item. The next page is read when the caller needs it. */
export async function* readPages<T>(
  start: string | undefined,
  readPage: (position: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let position: string | null | undefined = start
  while (position !== null) {
    const { items, next }: Page<T> = await readPage(position)
    yield* items
    position = next
  }
}

/** Makes the query of a path. Members that are undefined are left out. */
export function formatQuery(params: object): string {
  const entries = Object.entries(params).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const query = new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return query === '' ? '' : `?${query}`
}
