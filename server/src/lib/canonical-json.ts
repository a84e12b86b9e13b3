export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/**
 * Formats a value as canonical JSON (RFC 8785): members sorted by UTF-16 code units, no white space. `JSON.stringify`
 * formats numbers and strings as the RFC requires.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  const names = Object.keys(value).toSorted(compareUnits)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`).join(',')}}`
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function compareUnits(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
