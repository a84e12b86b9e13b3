import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { createSortableId } from '../lib/ids.ts'
import { Problem } from '../values/problem.ts'
import { REJECTED_CLOSE_MS } from './limits.ts'
import { setRetryAfter } from './set-retry-after.ts'

/** Sent with every response: browsers must not guess its type. */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const

/** Sends an error response, with `Retry-After` in seconds if the error says when to retry. */
export function sendProblem(reply: FastifyReply, answer: Problem): void {
  reply.request.errorCode = answer.code ?? answer.type
  setRetryAfter(reply, answer.retryAfterSeconds)
  void reply.headers(cellHeader(answer))
  void reply
    .code(answer.status)
    .header('Content-Type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(toEnvelope(answer))
}

/**
 * The header of the 421 for a workspace in another cell. A router reads the name of that cell there, and sends the
 * request on (D95).
 */
export function cellHeader({ code, details }: Problem): Readonly<Record<string, string>> {
  return code === 'workspace_moved' ? { 'Bursar-Cell': (details as { cell: string }).cell } : {}
}

/** The body of every error response (specification, part 7). */
function toEnvelope(answer: Problem) {
  return {
    error: { type: answer.type, message: answer.message, code: answer.code, details: answer.details },
  }
}

/**
 * Responds to a request that is not valid HTTP. Such a request never reaches a handler. Its response has the same
 * format as every other error.
 *
 * A connection without a request is closed without a response. Browsers open connections before they need them. If one
 * sends a request while its connection is being closed, it would take an error for the response to that request. It
 * repeats the request if there is no response.
 */
export function rejectBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy()
    return
  }
  const answer =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('payload_too_large', 'The request headers are larger than 16 KiB.')
      : new Problem('validation_failed', 'The request is not valid HTTP, or took too long to arrive.')
  const body = JSON.stringify(toEnvelope(answer))
  // Such a client may also ignore that the connection is closed on our side.
  setTimeout(() => socket.destroy(), REJECTED_CLOSE_MS).unref()
  socket.end(
    [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      NO_SNIFFING.join(': '),
      `Request-Id: req_${createSortableId(clock.now())}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
