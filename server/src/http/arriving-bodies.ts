import type { Socket } from 'node:net'
import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Budget } from '../lib/pools.ts'
import type { Hold } from '../lib/shared-bytes.ts'
import { BODY_BYTES_MAX, PIPELINED_MAX } from './limits.ts'
import type { Group } from './overload-gate.ts'
import { TransferBytes } from './transfer-bytes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was received. Null if there is none, or if it is larger than `BODY_BYTES_MAX`. */
    arrivedBody: Buffer | null
    /** Whether the body is larger than `BODY_BYTES_MAX`. */
    isBodyTooLarge: boolean
  }
}

const NO_BYTES = Buffer.alloc(0)

/**
 * Receives the bodies of requests. Nothing else is done for a request before its body is there, so a client that sends
 * slowly takes up only its connection and its bytes. People and networks share the bytes of bodies that have not
 * arrived completely, and the server's `requestTimeout` ends what takes too long.
 */
export class ArrivingBodies {
  readonly #bytes: TransferBytes
  /** How many requests of a connection wait for the responses to earlier ones. */
  readonly #pipelined = new WeakMap<Socket, number>()

  constructor(groupOf: (request: FastifyRequest) => Group, budget: Budget) {
    this.#bytes = new TransferBytes(groupOf, budget)
  }

  /** How many bytes of bodies are here that have not arrived completely. */
  get bytes(): number {
    return this.#bytes.bytes
  }

  /**
   * The hook that waits for the body of a request. A connection has one request at a time: if a client sends several
   * without waiting for the responses, each begins when the response before it was sent. So a client that does not read
   * its responses gets no further ones.
   */
  readonly hook = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Node gives the socket to the response whose turn it is.
    if (reply.raw.socket !== null) {
      this.#receive(request, done)
      return
    }
    const { socket } = request.raw
    const waiting = (this.#pipelined.get(socket) ?? 0) + 1
    this.#pipelined.set(socket, waiting)
    if (waiting > PIPELINED_MAX) {
      socket.destroy()
      return
    }
    reply.raw.once('socket', () => {
      // The time for reading the response before it is over.
      socket.setTimeout(0)
      this.#pipelined.set(socket, (this.#pipelined.get(socket) ?? 0) - 1)
      this.#receive(request, done)
    })
  }

  #receive(request: FastifyRequest, done: () => void): void {
    const { raw } = request
    const length = raw.headers['content-length']
    if (Number(length) > BODY_BYTES_MAX) {
      request.isBodyTooLarge = true
      done()
      return
    }
    if (length === '0' || (length === undefined && raw.headers['transfer-encoding'] === undefined)) {
      done()
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    let hold: Hold | null = null
    const finish = (): void => {
      hold?.release()
      raw.off('data', onData).off('end', onEnd)
    }
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      size += chunk.length
      if (size > BODY_BYTES_MAX) {
        request.isBodyTooLarge = true
        finish()
        done()
      } else if (hold !== null) {
        hold.grow(chunk.length)
      } else if (!raw.complete) {
        hold = this.#bytes.hold(request, chunk.length, () => raw.destroy())
      }
    }
    const onEnd = (): void => {
      finish()
      request.arrivedBody = Buffer.concat(chunks, size)
      done()
    }
    // A client that disconnects before its body is there gets no response, and nothing was done for its request.
    raw.on('data', onData).on('end', onEnd).once('close', finish)
  }
}

/** Returns the body of a request, for a parser. Throws Fastify's error if the body is too large. */
export function readArrivedBody({ arrivedBody, isBodyTooLarge }: FastifyRequest): Buffer {
  if (isBodyTooLarge) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  return arrivedBody ?? NO_BYTES
}
