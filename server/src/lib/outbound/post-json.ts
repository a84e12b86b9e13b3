import { checkWebhookUrl } from './check-url.ts'
import { sendRequest, withoutAnswer, type Answer, type Outbound, type SentRequest } from './send-request.ts'

export interface OutboundRequest extends Omit<SentRequest, 'method' | 'connection'> {
  readonly url: string
  /** JSON, sent byte for byte. */
  readonly body: Buffer
}

export interface OutboundOutcome extends Omit<Answer, 'headers' | 'isComplete'> {
  readonly durationMs: number
}

/**
 * Posts JSON once to a URL that a user has chosen, and returns the outcome. Failures of the receiver are returned as
 * outcomes, not thrown. The URL is checked again before the request. Redirects are not followed, and no cookies,
 * credentials or proxies are used.
 */
export async function postJson(
  outbound: Outbound,
  { url: text, ...request }: OutboundRequest,
): Promise<OutboundOutcome> {
  const { policy, clock } = outbound
  const startedAt = clock.now().getTime()
  const url = checkWebhookUrl(text, policy)
  const { statusCode, error, responseBody } =
    typeof url === 'string'
      ? withoutAnswer('blocked_address')
      : await sendRequest(outbound, url, { method: 'POST', ...request })
  // The duration is kept between 0 and the time limit, because the sandbox may have moved the clock in the meantime.
  const durationMs = Math.min(Math.max(clock.now().getTime() - startedAt, 0), request.timeoutMs)
  return { statusCode, error, responseBody, durationMs }
}
