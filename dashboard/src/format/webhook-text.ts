import { EVENT_TYPES, type SubscribableType } from '@bursar/server/src/domain/events/event.ts'
import type { AttemptError } from '@bursar/server/src/domain/webhooks/delivery.ts'
import type { Delivery, ListedDelivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'

/** The event types that an endpoint can subscribe to, and what they mean. */
export const EVENT_MEANINGS: Readonly<Record<SubscribableType, string>> = {
  'payment.created': 'A payment was accepted',
  'payment.confirmed': 'The blockchain confirmed a payment',
  'payment.failed': 'A payment failed, and no money moved',
  'inbound.received': 'A wallet received USDC',
  'permission.granted': 'The wallet’s owner signed a grant',
  'permission.revoked': 'A grant was revoked, replaced or discarded',
  'permission.suspended': 'A grant was suspended, alone or by a stop',
  'permission.resumed': 'The wallet’s owner let a suspended grant pay again',
}

/** Returns `All event types`, or a list of the event types. */
export function formatEventTypes(events: readonly string[]): string {
  return events.length === EVENT_TYPES.length ? 'All event types' : events.join(', ')
}

const DISABLED_TEXTS: Readonly<Record<NonNullable<Webhook['disabled_because']>, string>> = {
  owner: 'A member of this workspace disabled it.',
  gone: 'It was disabled because it responded with 410 Gone.',
  failing: 'It was disabled because every attempt failed for five days.',
}

/** Why an endpoint is disabled. */
export function explainDisabled(because: Webhook['disabled_because']): string {
  return because === null ? '' : DISABLED_TEXTS[because]
}

const TRIGGER_TEXTS: Readonly<Record<Delivery['trigger'], string>> = {
  event: 'Event: up to six attempts',
  replay: 'Resent by a user: one attempt',
  test: 'Test by a user: one attempt',
}

/** Says what triggered a delivery. */
export function formatTrigger(trigger: Delivery['trigger']): string {
  return TRIGGER_TEXTS[trigger]
}

const ATTEMPT_TEXTS: Readonly<Record<AttemptError, string>> = {
  timeout: 'The endpoint did not send a full response within 10 seconds.',
  dns_error: 'The host name could not be resolved. Check the URL.',
  connection_refused: 'The connection was refused. Check that your server is running at this URL.',
  connection_reset: 'The connection was closed before the whole response arrived.',
  tls_error: 'The TLS connection failed. Check the server’s certificate.',
  blocked_address: 'The host name resolves to a private address. Webhooks are only sent to public addresses.',
  redirect: 'The endpoint responded with a redirect, which is not followed. Enter the final URL.',
  http_error: 'The endpoint did not respond with a status from 200 to 299.',
  invalid_response: 'The response was not valid HTTP, or was too large.',
}

interface AttemptResult {
  /** A key of `ATTEMPT_TEXTS`, or an error that only a newer server reports. */
  readonly error: string | null
  readonly status_code: number | null
}

/** Explains why an attempt failed and what to do. Null if it succeeded. */
export function explainAttempt({ error, status_code }: AttemptResult): string | null {
  const texts: Readonly<Record<string, string | undefined>> = ATTEMPT_TEXTS
  if (error !== null) return texts[error] ?? `The attempt failed: ${error}.`
  const isGood = status_code !== null && status_code >= 200 && status_code <= 299
  return isGood ? null : ATTEMPT_TEXTS.http_error
}

const URL_TEXTS: Readonly<Record<string, string>> = {
  not_a_url: 'This is not a URL. Enter one like https://example.com/hooks.',
  too_long: 'The URL is too long.',
  not_https: 'The URL must start with https://.',
  has_credentials: 'The URL must not contain a user name or password.',
  has_fragment: 'The URL must not contain a “#”.',
  host_not_public: 'The host must be public. Webhooks are not sent to private networks.',
  port_not_allowed: 'The URL must use the default HTTPS port. Remove the port number.',
  own_origin: 'This is Bursar’s own address. Enter the URL of your server.',
}

/** Explains why the server rejected a URL. Null for unknown reasons. */
export function explainUrlError(reason: unknown): string | null {
  return typeof reason === 'string' ? (URL_TEXTS[reason] ?? null) : null
}

const SHORT_ERROR_TEXTS: Readonly<Record<AttemptError, string>> = {
  timeout: 'Timed out',
  dns_error: 'Host not found',
  connection_refused: 'Connection refused',
  connection_reset: 'Connection lost',
  tls_error: 'TLS failed',
  blocked_address: 'Private address',
  redirect: 'Redirect',
  http_error: 'Error',
  invalid_response: 'Invalid response',
}

/** The result of the last attempt of a delivery, in a table: the status of the response, or why there was none. */
export function formatLastAttempt({ last_attempt: attempt }: Pick<ListedDelivery, 'last_attempt'>): string {
  if (attempt === null) return 'None yet'
  const { status_code: status, error } = attempt
  if (status !== null) return String(status)
  return error === null ? 'None' : SHORT_ERROR_TEXTS[error]
}
