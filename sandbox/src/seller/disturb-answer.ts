import type { Request, RequestHandler, Response } from 'express'
import type { Resource } from './resource.ts'

const SECOND_BODY = '{"error":"a second answer"}'
const SECOND_ANSWER = `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${SECOND_BODY.length}\r\n\r\n${SECOND_BODY}`

/** Returns a handler that applies the resource's faults to requests without a payment, by sending a wrong answer. */
export function disturbOffer(resource: Resource): RequestHandler {
  return (request, response, next) => {
    if (readPaymentHeader(request) !== undefined) return next()
    if (resource.meets('html_paywall')) {
      response.status(402).type('html').send('<!doctype html><title>Pay</title><p>Please pay with your wallet.</p>')
    } else if (resource.meets('malformed_offer')) {
      response.status(402).setHeader('PAYMENT-REQUIRED', 'this is not base64!').setHeader('WWW-Authenticate', 'Payment')
      response.json({})
    } else if (resource.meets('redirect')) {
      response.redirect(302, resource.behaviour.redirectTo ?? request.originalUrl)
    } else next()
  }
}

/**
 * Returns a handler that applies the resource's `answer_…` faults, which change how a successful answer reaches the
 * payer. The handler replaces `response.end`, which the later handlers call after the money has moved.
 */
export function disturbAnswer(resource: Resource): RequestHandler {
  return (request, response, next) => {
    const isPaid = readPaymentHeader(request) !== undefined
    if (isPaid && (resource.behaviour.faults as readonly string[]).some((fault) => fault.startsWith('answer_'))) {
      replaceEnd(resource, request, response)
    }
    next()
  }
}

function replaceEnd(resource: Resource, { socket }: Request, response: Response): void {
  const end = response.end.bind(response) as (...args: readonly unknown[]) => Response
  const replaced = (...args: readonly unknown[]): Response => {
    if (response.statusCode >= 400) return end(...args)
    if (resource.meets('answer_lost')) {
      socket.destroy()
      return response
    }
    const twice = resource.meets('answer_twice')
    const send = (): void => {
      end(...args)
      if (twice) socket.write(SECOND_ANSWER)
    }
    if (resource.meets('answer_slow')) setTimeout(send, resource.behaviour.delayMs).unref()
    else send()
    return response
  }
  response.end = replaced as typeof response.end
}

/** Returns the payment header of the request, whichever protocol it belongs to. */
export function readPaymentHeader(request: Request): string | undefined {
  const authorization = request.get('authorization')
  const mpp = authorization?.startsWith('Payment ') === true ? authorization.slice('Payment '.length) : undefined
  return request.get('payment-signature') ?? request.get('x-payment') ?? mpp
}

/** Returns the nonce of the authorization in a payment header. Returns null if there is none. */
export function readNonce(header: string): string | null {
  try {
    const sent = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as {
      readonly payload?: { readonly nonce?: unknown; readonly authorization?: { readonly nonce?: unknown } }
    }
    const nonce = sent.payload?.authorization?.nonce ?? sent.payload?.nonce
    return typeof nonce === 'string' ? nonce : null
  } catch {
    return null
  }
}
