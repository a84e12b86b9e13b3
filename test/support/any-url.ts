import fc from 'fast-check'
import { ANY_CHARACTER } from './any-character.ts'

/** The characters that a path may contain as they are, other than `%` and `/` (RFC 3986, section 3.3). */
const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@".split('')

/**
 * URLs like those of fast-check's `webUrl`. That one first builds a map of all characters, which takes 0.7 s in each
 * process.
 */
export function anyUrl({ schemes = ['http', 'https'], withQuery = false } = {}): fc.Arbitrary<string> {
  const path = fc.array(text(PLAIN)).map((segments) => segments.map((segment) => `/${segment}`).join(''))
  const query = text([...PLAIN, '/', '?']).map((characters) => `?${characters}`)
  return fc
    .tuple(fc.constantFrom(...schemes), fc.domain(), path, withQuery ? fc.option(query, { nil: '' }) : fc.constant(''))
    .map(([scheme, domain, path, query]) => `${scheme}://${domain}${path}${query}`)
}

/** Text of these characters and of any others, which are percent-encoded. */
function text(plain: readonly string[]): fc.Arbitrary<string> {
  const encoded = ANY_CHARACTER.map(encodeURIComponent)
  return fc.string({ unit: fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...plain) }, encoded) })
}
