import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the seller received it. */
export interface SellerRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A request that pays, with the authorization in its header. */
export interface PaidRequest extends SellerRequest {
  /** The header as it was received. */
  readonly header: string
  readonly signature: string
  readonly nonce: string
  readonly from: string
  readonly to: string
  readonly value: string
}

/** Sends a response, or loses it with `response.destroy()`. */
export type Respond = (response: ServerResponse, request: SellerRequest) => void

/**
 * A seller that a test controls. It asks for a payment by x402 version 2, unless `ask` is replaced, and takes payments of
 * all protocols. It settles nothing.
 */
export interface FakeSeller {
  readonly url: string
  /** All requests so far, in order. */
  readonly requests: SellerRequest[]
  /** The requests so far that pay, in order. */
  readonly paid: PaidRequest[]
  /** The ways to pay that the seller offers: the list `accepts` of its 402 response. */
  accepts: readonly Readonly<Record<string, unknown>>[]
  /** Responds to a request without a payment. By default with 402 and `accepts`. */
  ask: Respond
  /** Responds to a request that pays. By default with 200 and the text `goods`. */
  deliver: Respond
  close(): Promise<void>
}

/** Starts a seller on a free loopback port. */
export async function startFakeSeller(): Promise<FakeSeller> {
  const requests: SellerRequest[] = []
  const paid: PaidRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') }
      requests.push(one)
      const header = readPaymentHeader(headers)
      if (header === null) {
        seller.ask(response, one)
        return
      }
      paid.push({ ...one, ...readPayload(header), header })
      seller.deliver(response, one)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const seller: FakeSeller = {
    url: `http://127.0.0.1:${port}`,
    requests,
    paid,
    accepts: [],
    ask(response, { path }) {
      const resource = { url: `http://127.0.0.1:${port}${path}`, description: 'Test goods' }
      const required = { x402Version: 2, resource, accepts: seller.accepts }
      response.writeHead(402, { 'payment-required': toBase64(required), 'content-type': 'application/json' }).end('{}')
    },
    deliver: (response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('goods')
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
  return seller
}

export function toBase64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Returns the value of the payment header: of x402 version 2 or 1, or the credential of MPP. */
function readPaymentHeader(headers: IncomingHttpHeaders): string | null {
  const credentials = [headers['payment-authorization'], headers.authorization].map((value) =>
    typeof value === 'string' && value.startsWith('Payment ') ? value.slice('Payment '.length) : undefined,
  )
  const sent = [headers['payment-signature'], headers['x-payment'], ...credentials]
  return sent.find((value) => typeof value === 'string') ?? null
}

interface Authorization {
  readonly nonce: string
  readonly from: string
  readonly to: string
  readonly value: string
}

function readPayload(header: string): Omit<PaidRequest, keyof SellerRequest | 'header'> {
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as {
    readonly payload: { readonly signature: string; readonly authorization?: Authorization } & Authorization
  }
  const { nonce, from, to, value } = payload.authorization ?? payload
  return { signature: payload.signature, nonce, from, to, value }
}
