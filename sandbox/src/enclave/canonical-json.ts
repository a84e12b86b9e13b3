import canonicalizeModule from 'canonicalize'

/**
 * The package is CommonJS: Node's default import is the function itself, but its type declaration describes a module
 * with a default.
 */
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined

/** Returns the canonical form of a JSON value (RFC 8785). */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Not a JSON value.')
  return text
}
