import { createHmac } from 'node:crypto'
import type { Event } from 'bursar'

/** The service's own deliveries have the same time limit. */
const TIMEOUT_MS = 10_000
const USER_AGENT = 'Bursar-Webhooks/1 (bursar webhooks listen)'
const MS_PER_SECOND = 1_000
const RESPONSE_BYTES_READ_MAX = 16 * 1024

/** What happened to an event that was forwarded. */
export interface Forwarded {
  readonly delivered: boolean
  readonly status: number | null
  readonly error: string | null
}

/** Posts an event to the receiver, with the headers and the signature of a delivery. Never throws. */
export async function forwardEvent(
  event: Event,
  { url, secret, now }: { readonly url: string; readonly secret: string; readonly now: Date },
): Promise<Forwarded> {
  const body = JSON.stringify(event)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        'service-signature': signBody(body, { secret, now }),
        'service-event-id': event.id,
        'service-event-type': event.type,
        'service-delivery-attempt': '1',
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await readPart(response)
    return { delivered: response.ok, status: response.status, error: null }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { delivered: false, status: null, error: isLate ? 'no response in 10 seconds' : 'cannot be reached' }
  }
}

/**
 * Reads the response, as the service's own sender does: an announced body must arrive, but only its first 16 KiB are
 * read.
 */
async function readPart({ body }: Response): Promise<void> {
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes >= RESPONSE_BYTES_READ_MAX) return
  }
}

/** The header `Service-Signature` (D44): `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 over `<t>.<body>`. */
function signBody(body: string, { secret, now }: { readonly secret: string; readonly now: Date }): string {
  const seconds = Math.floor(now.getTime() / MS_PER_SECOND)
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${signature}`
}
