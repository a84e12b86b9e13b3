import { invalidRequest, issueOf } from '../values/invalid-request.ts'
import type { InvalidField } from '../values/problem-details.ts'
import { parseTime, timeRuleOf } from '../values/time.ts'

const WHOLE_NUMBER = /^[1-9]\d{0,2}$/

/** Reads the parameters of a request's query one by one, and collects everything that is wrong with them. */
export interface QueryReader {
  /**
   * Parses a parameter. Returns null if it is missing or not valid. `predicate` says what the value must be, and can
   * depend on what the value is.
   */
  readonly read: <Value>(name: string, parse: (text: string) => Value | null, predicate: Predicate) => Value | null
  /** Parses a time (RFC 3339). */
  readonly readTime: (name: string) => Date | null
  /** Parses the size of a page: a whole number from 1 to `max`, where `max` is at most 999. */
  readonly readLimit: (name: string, bounds: { readonly max: number; readonly byDefault: number }) => number
  /** Throws a 400 that lists every invalid parameter. Call it after all parameters were read. */
  readonly check: () => void
  /** Does the same as `check`, and also rejects every parameter that was not read, because it is unknown. */
  readonly checkAll: () => void
}

type Predicate = string | ((value: unknown) => string)

/** Creates the reader for a query as the HTTP framework parsed it. */
export function createQueryReader(query: unknown): QueryReader {
  const parameters: Readonly<Record<string, unknown>> = typeof query === 'object' && query !== null ? { ...query } : {}
  const issues: InvalidField[] = []
  const known = new Set<string>()

  function read<Value>(name: string, parse: (text: string) => Value | null, predicate: Predicate): Value | null {
    known.add(name)
    const text = parameters[name]
    if (text === undefined) return null
    // If a parameter was sent twice, the framework passes an array, which is not valid.
    const value = typeof text === 'string' ? parse(text) : null
    if (value === null) issues.push(issueOf(name, typeof predicate === 'string' ? predicate : predicate(text)))
    return value
  }

  function check(): void {
    if (issues.length > 0) throw invalidRequest(issues)
  }

  return {
    read,
    readTime: (name) => read(name, parseTime, timeRuleOf),
    readLimit: (name, { max, byDefault }) =>
      read(name, (text) => parseLimit(text, max), `must be a whole number from 1 to ${max}`) ?? byDefault,
    check,
    checkAll() {
      const unknown = Object.keys(parameters).filter((name) => !known.has(name))
      issues.push(...unknown.map((name) => issueOf(name, 'is not a parameter of this endpoint')))
      check()
    },
  }
}

/**
 * Parses a list of names, separated by commas. Returns them in the order of `known`, or null if a name is unknown.
 */
export function parseNames<const Name extends string>(text: string, known: readonly Name[]): readonly Name[] | null {
  const names = new Set<string>(text.split(','))
  const found = known.filter((name) => names.delete(name))
  return names.size === 0 ? found : null
}

function parseLimit(text: string, max: number): number | null {
  const limit = WHOLE_NUMBER.test(text) ? Number(text) : null
  return limit !== null && limit <= max ? limit : null
}
