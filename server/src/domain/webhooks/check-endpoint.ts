import { checkWebhookUrl } from '../../lib/outbound/check-url.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { EVENT_TYPES, type SubscribableType } from '../events/event.ts'

/** Throws 400 `url_not_allowed` for a URL that we would not send to. What its name resolves to is checked at each attempt. */
export function checkUrl({ outbound }: Pick<Context, 'outbound'>, url: string): void {
  const checked = checkWebhookUrl(url, outbound)
  if (typeof checked === 'string') throw problem('url_not_allowed', { details: { reason: checked } })
}

/** The kinds that were asked for, each once. Throws 400 for none, and for one that nobody can subscribe to. */
export function checkEvents(events: readonly string[]): SubscribableType[] {
  const wanted = new Set(events)
  const known = EVENT_TYPES.filter((type) => wanted.delete(type))
  if (known.length > 0 && wanted.size === 0) return known
  throw new Problem('validation_failed', `events must be one or more of ${EVENT_TYPES.join(', ')}.`)
}
