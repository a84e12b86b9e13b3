import type { FastifyRequest } from 'fastify'
import type { Budget } from '../lib/pools.ts'
import type { Hold } from '../lib/shared-bytes.ts'
import type { Group } from './overload-gate.ts'

/** Bytes of requests or responses, which known credentials and strangers share among themselves, but not with each other. */
export class TransferBytes {
  readonly #groupOf: (request: FastifyRequest) => Group
  readonly #budget: Budget

  constructor(groupOf: (request: FastifyRequest) => Group, budget: Budget) {
    this.#groupOf = groupOf
    this.#budget = budget
  }

  get bytes(): number {
    return this.#budget.known.bytes + this.#budget.strangers.bytes
  }

  /** Holds bytes in the share of a request. `end` is called if they are taken away, possibly at once. */
  hold(request: FastifyRequest, bytes: number, end: () => void): Hold {
    const { name, isKnown } = this.#groupOf(request)
    return this.#budget[isKnown ? 'known' : 'strangers'].hold(name, bytes, end)
  }
}
