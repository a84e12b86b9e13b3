import { usageError } from './cli-error.ts'

const AMOUNT_PATTERN = /^(?:0|[1-9][0-9]*)(?:\.[0-9]{1,6})?$/
const AMOUNT_CHARS_MAX = 23
const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/
const MS_PER_UNIT: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const KEY_CHARS_MAX = 64

/** Checks an amount of USDC. It stays a string, because a number would be inexact. */
export function parseAmount(text: string): string {
  if (AMOUNT_PATTERN.test(text) && text.length <= AMOUNT_CHARS_MAX && /[1-9]/.test(text)) return text
  throw usageError(
    `${JSON.stringify(text)} is not an amount: it must be a positive decimal with at most 6 decimal places, such as 1.25.`,
  )
}

export function parseAddress(text: string): string {
  if (ADDRESS_PATTERN.test(text)) return text
  throw usageError(`${JSON.stringify(text)} is not an address: it must be 0x and 40 hexadecimal digits.`, {
    hint: 'The service never looks up names. Use the address itself.',
  })
}

/** Checks an idempotency key. Requests with the same key make only one payment. */
export function parseKey(text: string): string {
  if (text.length >= 1 && text.length <= KEY_CHARS_MAX) return text
  throw usageError(`An idempotency key has 1 to ${KEY_CHARS_MAX} characters.`)
}

/** Parses a whole number within limits, both included. */
export function parseCount(text: string, { name, min, max }: { name: string; min: number; max: number }): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw usageError(`${name} must be a whole number from ${min} to ${max}.`)
}

/** A time that a caller named. How long ago it is counts by the clock of the service: see `resolveTime`. */
export type NamedTime = { readonly at: Date } | { readonly agoMs: number }

/** Parses a time: an ISO 8601 time, or how long ago (`90s`, `15m`, `2h`, `7d`). */
export function parseTime(text: string): NamedTime {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== '') return { agoMs: Number(count) * (MS_PER_UNIT[unit] ?? 0) }
  const isIso = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const date = new Date(isIso ? text : Number.NaN)
  if (!Number.isNaN(date.getTime())) return { at: date }
  throw usageError(`${JSON.stringify(text)} is not a time. Use an ISO 8601 time, or how long ago, such as 15m.`)
}

/** Parses a list of values that are separated by commas. Each value must be one of `allowed`. */
export function parseList(text: string, allowed: readonly string[], name: string): string[] {
  const values = text.split(',').map((value) => value.trim())
  const unknown = values.find((value) => !allowed.includes(value))
  if (unknown === undefined) return values
  throw usageError(`${name}: ${JSON.stringify(unknown)} is not one of ${allowed.join(', ')}.`)
}

/** Collects the values of an option that can be repeated. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
