import type { Json } from '../canonical-json.ts'
import { cleanText } from '../clean-text.ts'
import { Refusal } from '../refusal.ts'

type Members = { readonly [member: string]: Json }

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/
/** The ids of the enclave are part of paths, and never need encoding. */
const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/
const INTEGER_PATTERN = /^(?:0|[1-9][0-9]{0,77})$/
const HEX_PATTERN = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/

/**
 * Creates the error for a request that this page cannot fully describe. The error names the unknown part, `what`, so
 * that it can be reported.
 */
export function unknown(what: string): Refusal {
  return new Refusal(
    'request_unknown',
    `This page cannot describe a part of the request (${cleanText(what)}), so it signs nothing.`,
  )
}

/** Returns the members of an object. Refuses any member that is not listed, because it could change the meaning. */
export function readMembers(
  value: Json | undefined,
  what: string,
  { required, optional = [] }: { required: readonly string[]; optional?: readonly string[] },
): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unknown(what)
  const members = value as Members
  const names = Object.keys(members)
  const surplus = names.find((name) => !required.includes(name) && !optional.includes(name))
  if (surplus !== undefined) throw unknown(`the member "${surplus}" in ${what}`)
  const missing = required.find((name) => !names.includes(name))
  if (missing !== undefined) throw unknown(`${what} (it has no "${missing}")`)
  return members
}

export function readList(value: Json | undefined, what: string): readonly Json[] {
  if (!Array.isArray(value)) throw unknown(what)
  return value as readonly Json[]
}

export function readText(value: Json | undefined, what: string): string {
  if (typeof value !== 'string') throw unknown(what)
  return value
}

/** Refuses any value but `expected`. */
export function expect(value: Json | undefined, expected: string | number, what: string): void {
  if (value !== expected) throw unknown(what)
}

export function readId(value: Json | undefined, what: string): string {
  const text = readText(value, what)
  if (!ID_PATTERN.test(text)) throw unknown(what)
  return text
}

/** Returns the address in lower case. */
export function readAddress(value: Json | undefined, what: string): string {
  const text = readText(value, what)
  if (!ADDRESS_PATTERN.test(text)) throw unknown(what)
  return text.toLowerCase()
}

/** Reads a whole number that is written in decimal digits. */
export function readInteger(value: Json | undefined, what: string): bigint {
  const text = readText(value, what)
  if (!INTEGER_PATTERN.test(text)) throw unknown(what)
  return BigInt(text)
}

/** Reads a quantity of a transaction: `0x` and hexadecimal digits, or a whole number. */
export function readQuantity(value: Json | undefined, what: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  const text = readText(value, what)
  if (!HEX_PATTERN.test(text)) throw unknown(what)
  return BigInt(text)
}
