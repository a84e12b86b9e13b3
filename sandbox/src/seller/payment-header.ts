import type { Request } from 'express'

/** Returns the payment header of the request, whichever protocol it belongs to. */
export function readPaymentHeader(request: Request): string | undefined {
  const credential = request.get('payment-authorization') ?? request.get('authorization')
  const mpp = credential?.startsWith('Payment ') === true ? credential.slice('Payment '.length) : undefined
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
