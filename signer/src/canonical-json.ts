export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }

/** Programs differ in how deeply nested JSON they can read. Nothing that is signed or proved is nested so deeply. */
export const NESTING_MAX = 32
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d

/**
 * Formats a value as canonical JSON (RFC 8785): members sorted by UTF-16 code units, no white space. `JSON.stringify`
 * already formats strings and numbers as the RFC demands.
 */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'string') return formatText(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${formatText(name)}:${canonicalJson(member)}`).join(',')}}`
}

/** Half of a character has no UTF-8, so not every program could read it (RFC 8785, section 3.2.2.2). */
function formatText(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('the text contains half of a character')
  return JSON.stringify(text)
}

/**
 * Parses bytes that must be canonical JSON in UTF-8. Returns undefined for all other bytes, even if they are equivalent
 * JSON. Without this rule, another program could read the same bytes in another way, for example if a member occurs
 * twice.
 */
export function parseCanonicalJson(bytes: Uint8Array): Json | undefined {
  if (isNestedDeeper(bytes, NESTING_MAX)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value = JSON.parse(text) as Json
    return canonicalJson(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns whether JSON has more levels of lists and objects. Looks before it is parsed, because each level needs memory. */
export function isNestedDeeper(json: Uint8Array, levelsMax: number): boolean {
  let level = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const unit = json[at]
    if (isText) {
      if (unit === BACKSLASH) at += 1
      else if (unit === QUOTE) isText = false
    } else if (unit === QUOTE) isText = true
    else if (unit === BRACKET || unit === BRACE) level += 1
    else if (unit === BRACKET_END || unit === BRACE_END) level -= 1
    if (level > levelsMax) return true
  }
  return false
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
