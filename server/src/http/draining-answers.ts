import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Budget } from '../lib/pools.ts'
import { DRAINING_STALL_MS } from './limits.ts'
import { leaveWork, type Group } from './overload-gate.ts'
import { TransferBytes } from './transfer-bytes.ts'

/**
 * Bounds the responses that clients have not read. A client that reads slowly holds no place: its request has left the
 * gate. It holds the bytes that the operating system has not taken yet, which people and networks share, and its
 * connection is closed if it stops reading.
 */
export class DrainingAnswers {
  readonly #bytes: TransferBytes
  readonly #stallMs: number

  constructor(groupOf: (request: FastifyRequest) => Group, budget: Budget, stallMs = DRAINING_STALL_MS) {
    this.#bytes = new TransferBytes(groupOf, budget)
    this.#stallMs = stallMs
  }

  /** How many bytes of responses clients have not read. */
  get bytes(): number {
    return this.#bytes.bytes
  }

  /** The hook that sends a response. The handler is done, so the request gives its place back. */
  readonly hook = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void => {
    leaveWork(request)
    // Fastify writes the response during this call, and the operating system takes most of them at once.
    done(null, payload)
    const { raw } = reply
    const { socket } = raw
    if (socket === null || socket.destroyed || (raw.writableEnded && socket.writableLength === 0)) return
    // Each byte that the client reads begins this time anew. Node ends it with the response.
    socket.setTimeout(this.#stallMs)
    if (socket.writableLength === 0) return
    const hold = this.#bytes.hold(request, socket.writableLength, () => socket.destroy())
    raw.once('close', () => hold.release())
  }
}
