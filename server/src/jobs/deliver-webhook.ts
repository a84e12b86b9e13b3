import type { AttemptError, AttemptOutcome, ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { postJson, type Outbound } from '../lib/outbound/post-json.ts'
import { signDelivery } from './sign-delivery.ts'

/** What is read and kept of an answer (D45). */
const ANSWER_BYTES_MAX = 16 * 1024
const USER_AGENT = 'Bursar-Webhooks/1'

/** One attempt: signs anew, with the time of now, the same bytes as ever, posts them, and tells what came of it. */
export async function deliver(
  outbound: Outbound,
  { claimed, timeoutMs }: { claimed: ClaimedDelivery; timeoutMs: number },
): Promise<AttemptOutcome> {
  const { delivery, url, secrets, attemptNumber } = claimed
  const body = Buffer.from(claimed.body)
  const startedAt = outbound.clock.now()
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'Service-Signature': signDelivery({ secrets, body, now: startedAt }),
    'Service-Event-Id': delivery.eventId,
    'Service-Event-Type': delivery.eventType,
    'Service-Delivery-Attempt': String(attemptNumber),
  }
  const outcome = await postJson(outbound, { url, headers, body, timeoutMs, responseBytesMax: ANSWER_BYTES_MAX })
  return { startedAt, ...outcome, error: outcome.error ?? nameStatus(outcome.statusCode) }
}

/** Success is any 2xx (D45); a `Retry-After` is not asked for, since the waiting times are fixed. */
function nameStatus(statusCode: number | null): AttemptError | null {
  if (statusCode === null || (statusCode >= 200 && statusCode <= 299)) return null
  return statusCode >= 300 && statusCode <= 399 ? 'redirect' : 'http_error'
}
