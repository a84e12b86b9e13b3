import { randomBytes } from 'node:crypto'
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts'
import type { Behaviour, Fault } from './behaviour.ts'

/** What a resource has seen and done, from the seller's view. */
export interface Counters {
  readonly requests: number
  /** Requests with a payment header. */
  readonly paid_requests: number
  /** How many different authorizations the paid requests contained. A careful payer signs one for each purchase. */
  readonly authorizations: number
  /** Transactions that the facilitator sent to the chain. */
  readonly settlements: number
  /** How often the goods were handed over, even if the response was lost. */
  readonly deliveries: number
}

/** Something that is for sale at one path. */
export interface Resource {
  readonly id: string
  /** The path without the seller's origin. */
  readonly path: string
  readonly description: string
  readonly behaviour: Behaviour
  /** The first payee. */
  readonly payTo: `0x${string}`
  /** The payee after `payee_changed` has happened. */
  readonly laterPayTo: `0x${string}`
  /** The goods, as the body of the answer. Null for the standard goods. */
  readonly goods: (() => object) | null
  /** The extensions of x402 version 2 that the offer declares. */
  readonly extensions: Readonly<Record<string, unknown>>
  readonly counters: Readonly<Counters>
  count(counter: Exclude<keyof Counters, 'authorizations'>): void
  countAuthorization(nonce: string): void
  /** Records that the goods were sold for this authorization. */
  noteSold(nonce: string): void
  wasSold(nonce: string): boolean
  /** Returns whether this fault happens now. Counts each time that it happens. */
  meets(fault: Fault): boolean
  /** Returns the terms of the offer for the request that is being answered. */
  terms(): { readonly amount: bigint; readonly payTo: `0x${string}` }
}

export interface ResourceOptions {
  readonly path?: string
  readonly description?: string
  readonly goods?: () => object
  readonly extensions?: Readonly<Record<string, unknown>>
}

const ID_BYTES = 8
/** A raised price is this many times the first price. */
const RAISE_FACTOR = 2n

export function createResource(behaviour: Behaviour, options: ResourceOptions = {}): Resource {
  const { goods = null, extensions = {}, description = 'A resource of the sandbox' } = options
  const id = randomBytes(ID_BYTES).toString('hex')
  const counters = { requests: 0, paid_requests: 0, authorizations: 0, settlements: 0, deliveries: 0 }
  const nonces = new Set<string>()
  const sold = new Set<string>()
  const met = new Map<Fault, number>()
  const [payTo, laterPayTo] = [behaviour.payTo ?? makeAddress(), makeAddress()]
  return {
    id,
    path: options.path ?? `${behaviour.mode === 'live' ? '/live' : ''}/r/${id}`,
    description,
    behaviour,
    payTo,
    laterPayTo,
    goods,
    extensions,
    counters,
    count: (counter) => {
      counters[counter] += 1
    },
    countAuthorization: (nonce) => {
      counters.authorizations = nonces.add(nonce.toLowerCase()).size
    },
    noteSold: (nonce) => void sold.add(nonce.toLowerCase()),
    wasSold: (nonce) => sold.has(nonce.toLowerCase()),
    meets: (fault) => {
      const times = met.get(fault) ?? 0
      if (!behaviour.faults.includes(fault) || times >= (behaviour.faultCount ?? Infinity)) return false
      met.set(fault, times + 1)
      return true
    },
    terms: () => {
      const isLater = counters.requests > behaviour.changesAfter
      const has = (fault: Fault): boolean => isLater && behaviour.faults.includes(fault)
      return {
        amount: BigInt(behaviour.amount) * (has('price_raised') ? RAISE_FACTOR : 1n),
        payTo: has('payee_changed') ? laterPayTo : payTo,
      }
    },
  }
}

function makeAddress(): `0x${string}` {
  return privateKeyToAccount(generatePrivateKey()).address
}
