import { parseEther } from 'viem/utils'
import { parseAddress, type Address } from '../../../server/src/values/address.ts'
import { parseAgentId, type AgentId } from '../../../server/src/values/agent-id.ts'
import { parseAmount, type MicroUsdc } from '../../../server/src/values/money.ts'
import { Problem, type ProblemCode } from '../../../server/src/values/problem.ts'
import { isStorable } from '../../../server/src/values/text.ts'
import { parseTime } from '../../../server/src/values/time.ts'
import { MODES, type Mode } from '../addresses.ts'

const COIN_AMOUNT = /^\d{1,9}(\.\d{1,18})?$/
const ZERO_AMOUNT = /^0(\.0{1,6})?$/

/** Reads and parses the fields of a request one by one. If a value is not valid, throws a 400 that names the field. */
export class Fields {
  readonly #body: Readonly<Record<string, unknown>>

  /** A missing body is treated as a body without fields. */
  constructor(body: unknown) {
    const members = body === undefined ? {} : body
    if (typeof members !== 'object' || members === null || Array.isArray(members)) {
      throw invalid('', 'must be a JSON object')
    }
    this.#body = { ...members }
  }

  has(name: string): boolean {
    return this.#body[name] !== undefined
  }

  /** Returns which one of these fields is present. Throws unless exactly one of them is. */
  only<Name extends string>(names: readonly Name[]): Name {
    const [found, ...others] = names.filter((name) => this.has(name))
    if (found === undefined || others.length > 0)
      throw invalid(names.join(', '), 'exclude each other: send exactly one of them')
    return found
  }

  text(name: string): string {
    const value = this.#body[name]
    if (typeof value !== 'string' || !isStorable(value)) throw invalid(name, 'must be a string')
    return value
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback?: Value): Value {
    if (fallback !== undefined && !this.has(name)) return fallback
    const found = values.find((value) => value === this.#body[name])
    if (found === undefined) throw invalid(name, `must be one of ${values.join(', ')}`)
    return found
  }

  /** Reads a list of values. Returns all allowed values if the field is absent. */
  someOf<Value extends string>(name: string, values: readonly Value[]): readonly Value[] {
    const wanted = this.#body[name]
    if (wanted === undefined) return values
    const found = values.filter((value) => Array.isArray(wanted) && wanted.includes(value))
    if (Array.isArray(wanted) && found.length > 0 && found.length === wanted.length) return found
    throw invalid(name, `must be an array of some of ${values.join(', ')}`)
  }

  mode(): Mode {
    return this.oneOf('mode', MODES)
  }

  flag(name: string, fallback?: boolean): boolean {
    const value = this.#body[name] ?? fallback
    if (typeof value !== 'boolean') throw invalid(name, 'must be true or false')
    return value
  }

  integer(name: string, { min, max }: { min: number; max: number }): number {
    const value = this.#body[name]
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    throw invalid(name, `must be a whole number from ${min} to ${max}`)
  }

  /** Reads a fraction from 0 to 1. */
  share(name: string): number {
    const value = this.#body[name]
    if (typeof value === 'number' && value >= 0 && value <= 1) return value
    throw invalid(name, 'must be a number from 0 to 1')
  }

  agentId(name: string): AgentId {
    const id = parseAgentId(this.text(name))
    if (id === null) throw invalid(name, 'is not a valid agent id')
    return id
  }

  amount(name: string): MicroUsdc {
    const amount = parseAmount(this.text(name))
    if (amount !== null) return amount
    throw invalid(name, 'must be a positive decimal with at most 6 decimal places, as a string', 'amount_invalid')
  }

  /** Reads an amount. Returns null if the field is zero or absent. */
  amountOrZero(name: string): MicroUsdc | null {
    return !this.has(name) || ZERO_AMOUNT.test(this.text(name)) ? null : this.amount(name)
  }

  /** Reads an amount of the chain's native coin. Returns it in wei. */
  coin(name: string): bigint {
    const text = this.text(name)
    if (COIN_AMOUNT.test(text) && parseEther(text) > 0n) return parseEther(text)
    throw invalid(name, 'must be a positive decimal with at most 18 decimal places, as a string', 'amount_invalid')
  }

  address(name: string): Address {
    return toAddress(this.text(name), name)
  }

  /** Reads a list of addresses. Returns undefined if the field is absent. */
  addresses(name: string): readonly Address[] | undefined {
    const value = this.#body[name]
    if (value === undefined) return undefined
    if (!Array.isArray(value)) throw invalid(name, 'must be an array of addresses')
    return value.map((item, index) => toAddress(item, `${name}.${index}`))
  }

  /** Reads a time. Returns null if the field is null or absent. */
  time(name: string): Date | null {
    if ((this.#body[name] ?? null) === null) return null
    const time = parseTime(this.text(name))
    if (time === null) throw invalid(name, 'must be an ISO 8601 time with a UTC offset')
    return time
  }
}

function toAddress(value: unknown, name: string): Address {
  const address = typeof value === 'string' ? parseAddress(value) : null
  if (address === null) throw invalid(name, 'must be an EVM address', 'address_invalid')
  return address
}

function invalid(path: string, message: string, code?: ProblemCode): Problem {
  return new Problem('validation_failed', `${path === '' ? 'The body' : path} ${message}.`, {
    details: [{ path, message }],
    ...(code === undefined ? {} : { code }),
  })
}
