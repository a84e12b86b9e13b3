import type { FastifyRequest } from 'fastify'
import { type Hold, SharedBytes } from '../lib/shared-bytes.ts'
import type { Group } from './overload-gate.ts'

/** Bytes of requests or responses, which known credentials and strangers share among themselves, but not with each other. */
export class TransferBytes {
  readonly #groupOf: (request: FastifyRequest) => Group
  readonly #known: SharedBytes
  readonly #strangers: SharedBytes

  constructor(groupOf: (request: FastifyRequest) => Group, bytesMax: number) {
    this.#groupOf = groupOf
    this.#known = new SharedBytes(bytesMax)
    this.#strangers = new SharedBytes(bytesMax)
  }

  get bytes(): number {
    return this.#known.bytes + this.#strangers.bytes
  }

  /** Holds bytes in the share of a request. `end` is called if they are taken away, possibly at once. */
  hold(request: FastifyRequest, bytes: number, end: () => void): Hold {
    const { name, isKnown } = this.#groupOf(request)
    return (isKnown ? this.#known : this.#strangers).hold(name, bytes, end)
  }
}
