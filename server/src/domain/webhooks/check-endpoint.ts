import { checkWebhookUrl } from '../../lib/outbound/check-url.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { EVENT_TYPES, type SubscribableType } from '../events/event.ts'
import { invalidMember } from '../../values/invalid-request.ts'

/**
 * Throws 400 `url_not_allowed` for a URL that webhooks may not be sent to. The addresses that its host resolves to are
 * checked at each attempt.
 */
export function checkUrl({ outbound }: Pick<Context, 'outbound'>, url: string): void {
  const checked = checkWebhookUrl(url, outbound)
  if (typeof checked === 'string') throw problem('url_not_allowed', { details: { reason: checked } })
}

/** Returns the distinct event types. Throws 400 if there are none, or if endpoints cannot subscribe to one of them. */
export function checkEvents(events: readonly string[]): SubscribableType[] {
  const wanted = new Set(events)
  const known = EVENT_TYPES.filter((type) => wanted.delete(type))
  if (known.length > 0 && wanted.size === 0) return known
  throw invalidMember('events', `must be one or more of ${EVENT_TYPES.join(', ')}`)
}
