import canonicalizeModule from 'canonicalize'

/**
 * The package is CommonJS, so Node's default import is the function itself. The package's type declaration wrongly
 * describes a module with a default export.
 */
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined

/** Returns the canonical form of a JSON value (RFC 8785). */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Not a JSON value.')
  return text
}
