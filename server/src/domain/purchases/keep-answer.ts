import type { IncomingHttpHeaders } from 'node:http'
import type { KeptAnswer } from './seal-purchase.ts'
import type { GoodsDelivery } from './purchase.ts'

/** The headers that are left out: headers of one connection (RFC 9110, section 7.6.1), and headers that set cookies. */
const NOT_KEPT = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'set-cookie2',
]

/** What a server answered. `body` is already cut to the length that is kept. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly isTruncated: boolean
}

/** Converts a server's answer to the form in which agents get it (D64). */
export function toKeptAnswer({ status, headers, body, isTruncated }: ReceivedAnswer): KeptAnswer {
  const listed = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || NOT_KEPT.includes(name) || listed.includes(name)) return []
    return [[name, Array.isArray(value) ? value.join(', ') : value] as const]
  })
  const text = readText(body, isTruncated)
  return {
    status,
    headers: Object.fromEntries(kept),
    body: text,
    bodyBase64: text === null ? body.toString('base64') : null,
    isTruncated,
  }
}

/**
 * Returns the text of a body that is valid UTF-8 without null bytes. Returns null for any other body. A truncated body
 * may end within a character.
 */
function readText(body: Buffer, isTruncated: boolean): string | null {
  if (body.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: isTruncated })
  } catch {
    return null
  }
}

/**
 * Decides whether the goods were delivered, from the answer to the request that pays. If the answer broke off, that is
 * unknown, because the seller can be asked for the rest. The answer says nothing about the money (D66).
 */
export function deliveryOf({
  status,
  isBroken,
}: {
  readonly status: number
  readonly isBroken: boolean
}): GoodsDelivery {
  if (isBroken) return 'unknown'
  return status >= 200 && status < 300 ? 'delivered' : 'failed'
}
