import { fromBase64Url, type Bytes } from '../bytes.ts'
import type { Json } from '../canonical-json.ts'
import { parseTime } from '../parse-time.ts'
import { EvidenceError } from './evidence-error.ts'

/** Reads a value. `part` is its path, which an `EvidenceError` names if the value has another form. */
export type Reader<Value> = (value: Json, part: string) => Value

type Shape = Readonly<Record<string, Reader<unknown>>>
export type ShapeOf<Readers extends Shape> = { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> }

/** No amount and no block has so many digits. */
const DIGITS_PATTERN = /^(?:0|[1-9]\d{0,77})$/
const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/
const HASH_BYTES = 32

/** Reads an object that has exactly these members. Reads them in this order. */
export function members<Readers extends Shape>(readers: Readers): Reader<ShapeOf<Readers>> {
  const names = Object.keys(readers)
  return (value, part) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(part, 'it must be an object')
    const given = value as { readonly [member: string]: Json }
    if (!Object.keys(given).every((name) => Object.hasOwn(readers, name))) {
      throw wrong(part, 'it has a member that it must not have')
    }
    const read = names.map((name) => {
      const path = part === WHOLE ? name : `${part}.${name}`
      const member = Object.hasOwn(given, name) ? given[name] : undefined
      if (member === undefined) throw wrong(path, 'it is missing')
      return [name, readers[name]?.(member, path)] as const
    })
    return Object.fromEntries(read) as ShapeOf<Readers>
  }
}

/** The path of the whole file. Its members are named without it. */
export const WHOLE = 'file'

export function list<Value>(read: Reader<Value>, { min, max }: { min: number; max: number }): Reader<readonly Value[]> {
  return (value, part) => {
    if (!Array.isArray(value)) throw wrong(part, 'it must be a list')
    const entries = value as readonly Json[]
    if (entries.length < min || entries.length > max) throw wrong(part, `it must have ${min} to ${max} entries`)
    return entries.map((entry, index) => read(entry, `${part}[${index}]`))
  }
}

export function nullable<Value>(read: Reader<Value>): Reader<Value | null> {
  return (value, part) => (value === null ? null : read(value, part))
}

export function oneOf<Word extends string | number>(...words: readonly Word[]): Reader<Word> {
  return (value, part) => {
    const word = words.find((one) => one === value)
    if (word === undefined) throw wrong(part, `it must be ${words.join(' or ')}`)
    return word
  }
}

/** Keeps a value as it is, to be read later. */
export const anything: Reader<Json> = (value) => value

export const text: Reader<string> = (value, part) => {
  if (typeof value !== 'string') throw wrong(part, 'it must be a text')
  return value
}

/** A whole number that every program reads in the same way. */
export const count: Reader<number> = (value, part) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw wrong(part, 'it must be a whole number that is not negative')
  }
  return value
}

/** A number in decimal digits, in a text. */
export const digits: Reader<bigint> = (value, part) =>
  BigInt(matching(DIGITS_PATTERN, 'a number in decimal digits')(value, part))

export const time: Reader<Date> = (value, part) => {
  const read = parseTime(text(value, part))
  if (read === null) throw wrong(part, 'it must be a time in UTC with milliseconds')
  return read
}

/** An address of the chain. Returns it in lower case. */
export const address: Reader<string> = (value, part) =>
  matching(ADDRESS_PATTERN, 'an address')(value, part).toLowerCase()

/** A hash of the chain. Returns it in lower case. */
export const chainHash: Reader<string> = (value, part) =>
  matching(HASH_PATTERN, '32 bytes in hexadecimal')(value, part).toLowerCase()

export const bytes: Reader<Bytes> = (value, part) => {
  const decoded = fromBase64Url(text(value, part))
  if (decoded === null) throw wrong(part, 'it must be base64url without padding')
  return decoded
}

/** Bytes of a fixed length, in base64url. */
export function bytesOf(length: number): Reader<Bytes> {
  return (value, part) => {
    const decoded = bytes(value, part)
    if (decoded.length !== length) throw wrong(part, `it must have ${length} bytes`)
    return decoded
  }
}

/** A SHA-256 hash in base64url. */
export const hash = bytesOf(HASH_BYTES)

export function matching(pattern: RegExp, what: string): Reader<string> {
  return (value, part) => {
    const given = text(value, part)
    if (!pattern.test(given)) throw wrong(part, `it must be ${what}`)
    return given
  }
}

export function wrong(part: string, reason: string): EvidenceError {
  return new EvidenceError(part, reason)
}
