import { parseJson } from '../../lib/parse-json.ts'

/** WebAuthn's client data contains texts and booleans. Earlier versions also had an object of texts. */
const CLIENT_DATA_LEVELS_MAX = 2
const QUOTED = /"(?:[^"\\]|\\.)*"/g

/**
 * Returns whether every program that reads this `clientDataJSON` reads the same, and the passkey was used by a page that no
 * page of another origin embeds (WebAuthn, section 5.8.1): UTF-8 without a byte order mark, no member twice, and no half of
 * a character.
 */
export function isUnambiguousClientData(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const data = parseJson(text, CLIENT_DATA_LEVELS_MAX)
    if (typeof data !== 'object' || data === null || !isWellFormed(data)) return false
    const { crossOrigin = false, topOrigin } = data as { crossOrigin?: unknown; topOrigin?: unknown }
    return crossOrigin === false && topOrigin === undefined && countMembers(data) === countColons(text)
  } catch {
    return false
  }
}

/** Counts the members that `JSON.parse` has kept. Of two with the same name, it keeps the last. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const nested = Object.values(value).reduce((sum: number, member) => sum + countMembers(member), 0)
  return nested + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

/** Counts the members in the text: each has one colon outside of strings. */
function countColons(json: string): number {
  return json.replaceAll(QUOTED, '').split(':').length - 1
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member))
}
