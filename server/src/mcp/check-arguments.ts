import type { TObject, TSchema } from 'typebox'
import { parseAmount } from '../values/money.ts'
import { countCodePoints, isStorable } from '../values/text.ts'
import { ToolFailure } from './tool-failure.ts'
import { shortenText } from '../lib/cut-text.ts'

/** An error repeats at most this many characters of what the model wrote. */
const ECHO_CHARS_MAX = 64
const ISSUES_MAX = 20

interface Issue {
  readonly path: string
  readonly message: string
}

/**
 * Checks the arguments of a call against the input schema of its tool. Returns them without the members that are null:
 * many models send null for an argument that they want to leave out. Throws a failure that names each wrong argument,
 * and says how to write it.
 *
 * The schemas of the tools use only strings, integers, constants and objects of strings, so only these types are
 * checked.
 */
export function checkArguments(given: unknown, schema: TObject, toolName: string): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid([{ path: '', message: 'the arguments must be a JSON object' }])
  }
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined)
  const present = new Map<string, unknown>(entries)
  const known = Object.keys(schema.properties)
  const issues = [
    ...Object.entries(schema.properties).flatMap(([name, property]) =>
      checkMember(name, property, { schema, present }),
    ),
    ...entries
      .filter(([name]) => !known.includes(name))
      .map(([name]) => ({
        path: shortenText(name, ECHO_CHARS_MAX),
        message: `is not an argument of ${toolName}; its arguments are ${known.join(', ') || 'none'}`,
      })),
  ]
  if (issues.length > 0) throw invalid(issues.slice(0, ISSUES_MAX))
  return Object.fromEntries(entries)
}

/** The error for arguments that are not valid. Each issue names the argument and says how to write it. */
export function invalid(issues: readonly Issue[], code: ToolFailure['code'] = 'validation_failed'): ToolFailure {
  const message = issues.map(({ path, message: text }) => `${path === '' ? '' : `${path} `}${text}.`).join(' ')
  const next = 'Nothing was done. Correct the arguments, and call the tool again.'
  return new ToolFailure({ code, message, next, details: { arguments: issues.map(({ path }) => path) } })
}

function checkMember(
  name: string,
  property: TSchema,
  { schema, present }: { schema: TObject; present: ReadonlyMap<string, unknown> },
): Issue[] {
  const facts = property as Facts
  const value = present.get(name)
  if (value === undefined) {
    if (!schema.required?.includes(name)) return []
    return [
      { path: name, message: `is missing: ${lowerFirst(facts.description ?? 'it is required').replace(/\.$/, '')}` },
    ]
  }
  const message = checkValue(name, value, facts)
  return message === null ? [] : [{ path: name, message }]
}

interface Facts {
  readonly type?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

function checkValue(name: string, value: unknown, facts: Facts): string | null {
  if (facts.type === 'integer') return checkInteger(value, facts)
  return facts.type === 'object' ? checkTexts(value) : checkString(name, value, facts)
}

function checkTexts(value: unknown): string | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && Object.values(value).every((text) => typeof text === 'string' && isStorable(text))) return null
  return 'must be a JSON object whose values are strings, such as {"accept": "text/plain"}'
}

function checkInteger(value: unknown, { minimum, maximum }: { minimum?: number; maximum?: number }): string | null {
  const isInRange = typeof value === 'number' && value >= (minimum ?? value) && value <= (maximum ?? value)
  if (Number.isSafeInteger(value) && isInRange) return null
  return `must be a whole number from ${minimum} to ${maximum}, written as a JSON number`
}

function checkString(name: string, value: unknown, { maxLength }: { maxLength?: number }): string | null {
  if (typeof value === 'number' && name.endsWith('_usdc')) {
    const text = String(value)
    const example = parseAmount(text) === null ? '1.25' : text
    return `must be a string and not a number, because numbers can lose digits: write "${example}" if you mean ${example} dollars`
  }
  if (typeof value !== 'string') return 'must be a string'
  if (!isStorable(value)) return 'must not contain NUL characters or lone surrogates'
  if (value === '') return 'must not be empty; leave it out instead, if it is optional'
  if (maxLength !== undefined && countCodePoints(value) > maxLength) return `must have at most ${maxLength} characters`
  return null
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
