import canonicalizeModule from 'canonicalize'

/** The package is CommonJS: Node's default import is the function, which its declaration calls a module with a default. */
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined

/** The canonical form of a JSON value (RFC 8785). */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Not a JSON value.')
  return text
}
