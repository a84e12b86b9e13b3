import { cutText } from '../lib/cut-text.ts'
import { isExactNumber, parseExactJson, parseJson } from '../lib/parse-json.ts'

/** How much of a seller's response is read: more than any honest seller sends, and little enough to parse at once. */
export const HEADER_CHARS_MAX = 16 * 1_024
export const OFFER_BODY_BYTES_MAX = 64 * 1_024
/** At most this many ways to pay are read in each protocol. The answer says how many were not read. */
export const OFFERS_MAX = 20
/** How deeply objects and lists of a seller's JSON may be nested. */
const LEVELS_MAX = 32
/** How many characters we keep of a seller's short text, such as the name of a network. */
const WORD_CHARS_MAX = 100
const DESCRIPTION_CHARS_MAX = 200

/** The extension of x402 by which a seller asks for an id of the payment. The only one that we can fulfil. */
export const IDENTIFIER_EXTENSION = 'payment-identifier'

export type JsonObject = Readonly<Record<string, unknown>>

/** Parses JSON that somebody else wrote. Returns null if it is not an object, or if it is nested too deeply. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text, LEVELS_MAX)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/**
 * Parses JSON that `parseObject` accepts, to repeat a part of it to its author. Each number is written again as it was
 * written: a seller compares what we repeat with its own offer.
 */
export function parseExactObject(text: string): JsonObject {
  const value = parseExactJson(text)
  return isObject(value) ? value : {}
}

/** Decodes base64 (RFC 4648, section 4: the standard alphabet). Returns null for anything else. */
export function decodeBase64(text: string): string | null {
  if (text.length > HEADER_CHARS_MAX || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  return Buffer.from(text, 'base64').toString('utf8')
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value)
}

/** Returns the object's own member, and never an inherited one, such as `constructor`. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export function textMember(object: JsonObject, name: string): string | null {
  const value = member(object, name)
  return typeof value === 'string' ? value : null
}

/** Shortens words that somebody else wrote, and removes characters that would disturb a line of text. */
export function toWord(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  return cleanText(String(value), WORD_CHARS_MAX)
}

/** Shortens a text that somebody else wrote. Null if there is none. */
export function toDescription(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const text = cleanText(value, DESCRIPTION_CHARS_MAX)
  return text === '' ? null : text
}

function cleanText(text: string, charsMax: number): string {
  // Characters that are removed do not count, so that a text that begins with many of them is not empty.
  const start = cutText(text, 2 * charsMax)
  return cutText(start.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim(), charsMax)
}
