import type { Request, RequestHandler, Response } from 'express'
import { ANSWER_PIECES } from './limits.ts'
import { readNonce, readPaymentHeader } from './payment-header.ts'
import type { Resource } from './resource.ts'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Encoding } from './behaviour.ts'

/**
 * The name of each encoding in the header `Content-Encoding`, and what it does to a body. Some servers send `deflate`
 * without the zlib format that the standard prescribes (RFC 9110, section 8.4.1.2).
 */
const ENCODERS: Readonly<Record<Encoding, { readonly name: string; readonly encode: (body: Buffer) => Buffer }>> = {
  gzip: { name: 'gzip', encode: (body) => gzipSync(body) },
  deflate: { name: 'deflate', encode: (body) => deflateSync(body) },
  deflate_raw: { name: 'deflate', encode: (body) => deflateRawSync(body) },
  br: { name: 'br', encode: (body) => brotliCompressSync(body) },
  gzip_br: { name: 'gzip, br', encode: (body) => brotliCompressSync(gzipSync(body)) },
  gzip_claimed: { name: 'gzip', encode: (body) => body },
  unknown: { name: 'x-reversed', encode: (body) => Buffer.from(body.toReversed()) },
}

const SECOND_BODY = '{"error":"a second answer"}'
const SECOND_ANSWER = `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${SECOND_BODY.length}\r\n\r\n${SECOND_BODY}`

/** Returns a handler that applies the resource's faults to requests without a payment, by sending a wrong answer. */
export function disturbOffer(resource: Resource): RequestHandler {
  return (request, response, next) => {
    if (readPaymentHeader(request) !== undefined) return next()
    const { behaviour } = resource
    if (resource.meets('html_paywall')) {
      response.status(402).type('html').send('<!doctype html><title>Pay</title><p>Please pay with your wallet.</p>')
    } else if (resource.meets('malformed_offer')) {
      response.status(402).setHeader('PAYMENT-REQUIRED', 'this is not base64!').setHeader('WWW-Authenticate', 'Payment')
      response.json({})
    } else if (resource.meets('redirect')) {
      response.redirect(behaviour.redirectStatus, behaviour.redirectTo ?? request.originalUrl)
    } else {
      if (hasFaults(resource, 'offer_')) replaceEnd(response, (body) => sendBody(resource, response, body, 'offer'))
      next()
    }
  }
}

/**
 * Returns a handler that applies the resource's `answer_…` faults, which change how a successful answer reaches the
 * payer. The handler replaces `response.end`, which the later handlers call after the money has moved.
 */
export function disturbAnswer(resource: Resource): RequestHandler {
  return (request, response, next) => {
    const header = readPaymentHeader(request)
    const { remembers } = resource.behaviour
    if (header !== undefined && (remembers || hasFaults(resource, 'answer_'))) {
      replaceEnd(response, (body, sendRest) => {
        if (response.statusCode >= 400) return sendRest()
        const nonce = readNonce(header)
        if (remembers && nonce !== null) resource.noteSold(nonce)
        sendAnswer(resource, { request, response }, body)
      })
    }
    next()
  }
}

function hasFaults({ behaviour }: Resource, prefix: string): boolean {
  return (behaviour.faults as readonly string[]).some((fault) => fault.startsWith(prefix))
}

/** Replaces `response.end`. `send` gets the body, and a function that sends the answer as if nothing were replaced. */
function replaceEnd(response: Response, send: (body: Buffer, unchanged: () => void) => void): void {
  const end = response.end.bind(response) as (...args: readonly unknown[]) => Response
  const replaced = (...args: readonly unknown[]): Response => {
    response.end = end as typeof response.end
    const [chunk = ''] = args
    const body = Buffer.isBuffer(chunk) ? chunk : Buffer.from(typeof chunk === 'string' ? chunk : '')
    send(body, () => void end(...args))
    return response
  }
  response.end = replaced as typeof response.end
}

function sendAnswer(
  resource: Resource,
  { request, response }: { request: Request; response: Response },
  body: Buffer,
): void {
  if (resource.meets('answer_lost')) {
    request.socket.destroy()
    return
  }
  if (resource.meets('answer_status')) response.statusCode = resource.behaviour.answerStatus
  const twice = resource.meets('answer_twice')
  const send = (): void => {
    sendBody(resource, response, body, 'answer')
    if (twice) request.socket.write(SECOND_ANSWER)
  }
  if (resource.meets('answer_slow')) setTimeout(send, resource.behaviour.delayMs).unref()
  else send()
}

/** Sends a body as the faults of an offer or of an answer want it. */
function sendBody(resource: Resource, response: Response, plain: Buffer, part: 'offer' | 'answer'): void {
  const { encoding, delayMs } = resource.behaviour
  const encoded = resource.meets(`${part}_encoded`) ? encodeBody(plain, encoding) : null
  if (encoded !== null) response.setHeader('content-encoding', encoded.name)
  const body = encoded?.body ?? plain
  if (part === 'answer' && resource.meets('answer_corrupt')) corrupt(body)
  response.setHeader('content-length', body.length)
  const half = body.subarray(0, Math.ceil(body.length / 2))
  const breakOff = (): void => void response.write(half, () => response.destroy())
  if (resource.meets(`${part}_cut`)) return breakOff()
  if (part === 'answer' && resource.meets('answer_unfinished')) {
    response.removeHeader('content-length')
    return breakOff()
  }
  if (part === 'answer' && resource.meets('answer_dripped')) drip(response, body, delayMs)
  else response.end(body)
}

/** Inverts the bytes in the middle of a body. */
function corrupt(body: Buffer): void {
  const [from, to] = [Math.floor(body.length / 3), Math.ceil((body.length * 2) / 3)]
  for (let index = from; index < to; index += 1) body[index] = 0xff - (body[index] ?? 0)
}

/** Sends a body in pieces, with a pause before each of them. */
function drip(response: Response, body: Buffer, totalMs: number): void {
  const size = Math.ceil(body.length / ANSWER_PIECES)
  const send = (from: number): void => {
    if (from >= body.length) response.end()
    else response.write(body.subarray(from, from + size), () => schedule(from + size))
  }
  const schedule = (from: number): void => void setTimeout(send, totalMs / ANSWER_PIECES, from).unref()
  schedule(0)
}

/** Encodes a body. Returns it with the value of the header `Content-Encoding`. */
function encodeBody(body: Buffer, encoding: Encoding): { readonly name: string; readonly body: Buffer } {
  const { name, encode } = ENCODERS[encoding]
  return { name, body: encode(body) }
}
