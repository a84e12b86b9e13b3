import { isObject } from './attempt.ts'
import { BursarError, nameErrors, NO_CONTEXT } from './errors.ts'
import type { Event } from './types.ts'

export interface VerifyOptions {
  /**
   * How far the time of the signature may be from now, in seconds. The default is 300. The service signs with its own
   * clock. If the clock of a sandbox was moved, pass `Infinity`, or the moved time as `now`.
   */
  readonly toleranceSeconds?: number
  /**
   * Returns the time now, in milliseconds since 1970. It is meant for tests. `server_time` of `bursar.me()` is the time of
   * the service.
   */
  readonly now?: () => number
}

const TOLERANCE_SECONDS = 300
/** While a secret is being rotated, the header has two signatures. The service never sends more than a few. */
const SIGNATURES_MAX = 4
const MS_PER_SECOND = 1_000
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }
const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/

/** The request is not a webhook of this service: do not trust its body, and respond with 400. */
export class WebhookSignatureError extends BursarError {
  static {
    nameErrors(this, 'WebhookSignatureError')
  }
}

/** Verifies webhooks. It needs no client and no API key. */
export const webhooks = { verify }

/**
 * Verifies that a webhook comes from the service, and returns its event. Pass the body exactly as it arrived, as text or
 * bytes: a body that was parsed and written again has another signature. `signature` is the header `Service-Signature`.
 * `secret` is the endpoint's secret (`whsec_…`), or a list of secrets.
 *
 * Deliveries arrive at least once and in any order, so handle each `event.id` once.
 *
 * Errors: `WebhookSignatureError` if no signature matches, or if the webhook is older than `toleranceSeconds` seconds.
 *
 * @example
 * ```ts
 * async function receive(request: Request): Promise<Response> {
 *   const event = await webhooks.verify(await request.text(), request.headers.get('service-signature'), secret)
 *   if (event.type === 'payment.confirmed') log(event.data.payment.id)
 *   return new Response(null, { status: 204 })
 * }
 * ```
 */
async function verify(
  body: string | Uint8Array,
  signature: string | null | undefined,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyOptions = {},
): Promise<Event> {
  const { time, signatures } = parseSignature(signature ?? '')
  const signed = concatenate(`${time}.`, body)
  const secrets = typeof secret === 'string' ? [secret] : secret
  const pairs = secrets.flatMap((each) => signatures.map((hex) => matches(signed, hex, each)))
  if (!(await Promise.all(pairs)).some(Boolean)) throw invalid('No signature of the webhook matches the secret.')
  // The time is checked last, so that only a sender who knows the secret can find out how far the clocks differ.
  const ageSeconds = Math.abs(now() / MS_PER_SECOND - Number(time))
  if (ageSeconds > toleranceSeconds) throw invalid(`The webhook was signed more than ${toleranceSeconds} s ago.`)
  return parseEvent(typeof body === 'string' ? body : new TextDecoder().decode(body))
}

/**
 * Parses `t=<unix seconds>,v1=<hex>[,v1=<hex>]`. Parts with other names are ignored, as newer versions may add them.
 */
function parseSignature(header: string): { readonly time: string; readonly signatures: readonly string[] } {
  const parts = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (name: string): string[] => parts.flatMap(([key, value = '']) => (key === name ? [value] : []))
  const [time = '', ...otherTimes] = valuesOf('t')
  const signatures = valuesOf('v1').filter((value) => SIGNATURE_PATTERN.test(value))
  const isValid = /^\d{1,12}$/.test(time) && otherTimes.length === 0
  if (!isValid || signatures.length === 0 || signatures.length > SIGNATURES_MAX) {
    throw invalid('The header Service-Signature is missing or malformed.')
  }
  return { time, signatures }
}

/** `subtle.verify` compares in constant time. */
async function matches(signed: Uint8Array<ArrayBuffer>, hex: string, secret: string): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), ALGORITHM, false, ['verify'])
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return await crypto.subtle.verify('HMAC', key, signature, signed)
}

function concatenate(start: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const [first, second] = [encoder.encode(start), typeof body === 'string' ? encoder.encode(body) : body]
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

function parseEvent(text: string): Event {
  const event: unknown = JSON.parse(text)
  if (!isObject(event) || typeof event['type'] !== 'string') throw invalid('The body of the webhook is no event.')
  return event as unknown as Event
}

function invalid(message: string): WebhookSignatureError {
  return new WebhookSignatureError(message, NO_CONTEXT)
}
