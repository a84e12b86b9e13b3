import type { AttemptError, AttemptOutcome, ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { postJson } from '../lib/outbound/post-json.ts'
import type { Outbound } from '../lib/outbound/send-request.ts'
import { signDelivery } from '../domain/webhooks/sign-delivery.ts'

/** How much of a response is read and stored (D45). */
export const RESPONSE_BYTES_MAX = 16 * 1024
/** `sendRequest` adds whom to contact. */
const USER_AGENT = 'Bursar-Webhooks/1'

/** Makes one delivery attempt: signs the event's bytes with the current time, posts them and returns the outcome. */
export async function deliverWebhook(
  outbound: Outbound,
  { claimed, timeoutMs }: { claimed: ClaimedDelivery; timeoutMs: number },
): Promise<AttemptOutcome> {
  const { delivery, url, secrets, attemptNumber } = claimed
  const body = Buffer.from(claimed.body)
  const startedAt = outbound.clock.now()
  const headers = {
    'Content-Type': 'application/json',
    'user-agent': USER_AGENT,
    'Service-Signature': signDelivery({ secrets, body, now: startedAt }),
    'Service-Event-Id': delivery.eventId,
    'Service-Event-Type': delivery.eventType,
    'Service-Delivery-Attempt': String(attemptNumber),
  }
  const limits = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX }
  const outcome = await postJson(outbound, { url, headers, body, connectionsOf: delivery.workspaceId, ...limits })
  return { startedAt, ...outcome, error: outcome.error ?? nameStatus(outcome.statusCode) }
}

/**
 * Returns the error that a status means, or null for any 2xx status (D45). `Retry-After` is ignored, because the retry
 * times are fixed.
 */
function nameStatus(statusCode: number | null): AttemptError | null {
  if (statusCode === null || (statusCode >= 200 && statusCode <= 299)) return null
  return statusCode >= 300 && statusCode <= 399 ? 'redirect' : 'http_error'
}
