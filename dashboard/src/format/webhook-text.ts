import type { Delivery, DeliveryAttempt, Webhook } from '../api/wire-developers.ts'

/** The kinds of event that an endpoint can be told of (specification, part 6), each with a word of what it means. */
export const EVENT_MEANINGS: Readonly<Record<string, string>> = {
  'payment.created': 'an agent’s payment was accepted',
  'payment.confirmed': 'the chain has confirmed it',
  'payment.failed': 'it failed, and nothing was paid',
  'inbound.received': 'USDC came into a wallet',
  'permission.granted': 'an owner signed a grant',
  'permission.revoked': 'a grant ended',
}

export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_MEANINGS)

/** Goes to one endpoint, when somebody asks for it. */
export const TEST_EVENT_TYPE = 'webhook.test'

/** `all kinds of event`, or which. */
export function formatEventTypes(events: readonly string[]): string {
  return events.length === EVENT_TYPES.length ? 'All kinds of event' : events.join(', ')
}

const DISABLED_TEXTS: Readonly<Record<NonNullable<Webhook['disabled_because']>, string>> = {
  owner: 'Somebody here disabled it.',
  gone: 'It answered 410 Gone, so it was disabled at once.',
  failing: 'Every attempt of five days failed, so it was disabled.',
}

/** Why nothing is sent to an endpoint. */
export function explainDisabled(because: Webhook['disabled_because']): string {
  return because === null ? '' : DISABLED_TEXTS[because]
}

const TRIGGER_TEXTS: Readonly<Record<Delivery['trigger'], string>> = {
  event: 'By its event: tried up to six times',
  replay: 'A replay that somebody asked for: tried once',
  test: 'A test that somebody asked for: tried once',
}

/** What made a delivery. */
export function formatTrigger(trigger: Delivery['trigger']): string {
  return TRIGGER_TEXTS[trigger]
}

const ATTEMPT_TEXTS: Readonly<Record<string, string>> = {
  timeout: 'No whole answer came within 10 seconds.',
  dns_error: 'The host’s name could not be resolved. Check the address.',
  connection_refused: 'Nothing listens at that address: the connection was refused.',
  connection_reset: 'The connection broke off before an answer was there.',
  tls_error: 'No secure connection came about. Check the server’s certificate.',
  blocked_address: 'The host’s name leads to a private address, where nothing is sent.',
  redirect: 'It answered with a redirect, and redirects are not followed. Enter the final address.',
  http_error: 'It answered, but not with a status from 200 to 299.',
  invalid_response: 'What came back was no HTTP answer, or one that was too large.',
}

/** Why an attempt failed, and what may help; null for one that succeeded. */
export function explainAttempt({ error, status_code }: Pick<DeliveryAttempt, 'error' | 'status_code'>): string | null {
  if (error !== null) return ATTEMPT_TEXTS[error] ?? `It failed: ${error}.`
  const isGood = status_code !== null && status_code >= 200 && status_code <= 299
  return isGood ? null : (ATTEMPT_TEXTS['http_error'] ?? null)
}

const URL_TEXTS: Readonly<Record<string, string>> = {
  not_a_url: 'That is no address. It looks like https://example.com/hooks.',
  too_long: 'That address is too long.',
  not_https: 'The address must begin with https://.',
  has_credentials: 'The address must hold no user name and no password.',
  has_fragment: 'The address must have no part after a “#”.',
  host_not_public: 'The host must be public: nothing is sent into private networks.',
  port_not_allowed: 'The address must use the usual port of https, without a “:” and a number.',
  own_origin: 'That is Bursar’s own address.',
}

/** Why an address was refused, by the server's reason; null for a reason that is not known here. */
export function explainUrlError(reason: unknown): string | null {
  return typeof reason === 'string' ? (URL_TEXTS[reason] ?? null) : null
}
