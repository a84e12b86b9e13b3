/** The parameters of the URL of the payments page: the filters and the order of the list. */
const VIEW_PARAMETERS = [
  ...(['status', 'q', 'kind', 'agent', 'wallet', 'recipient', 'min', 'max', 'reason', 'from', 'to'] as const),
  ...(['sort', 'group'] as const),
] as const

/** The longest query of a saved view. It leaves room for a long search text. */
export const VIEW_QUERY_CHARS_MAX = 1_000

/**
 * Returns the query of a view in its stored form: the known parameters that have a value, in their order. Returns null
 * if the text has other parameters, contains NUL characters, which no list can be searched for, or is too long.
 */
export function parseViewQuery(text: string): string | null {
  const given = new URLSearchParams(text)
  const isKnown = [...given.keys()].every((key) => VIEW_PARAMETERS.some((name) => name === key))
  const query = formatViewQuery(given)
  const isValid = isKnown && query.length <= VIEW_QUERY_CHARS_MAX && !query.includes('%00')
  return isValid ? query : null
}

/** Returns the known parameters that have a value, in their order. */
export function formatViewQuery(given: URLSearchParams): string {
  const values = VIEW_PARAMETERS.map((name) => [name, given.get(name)?.trim() ?? ''])
  return new URLSearchParams(values.filter(([, value]) => value !== '')).toString()
}
