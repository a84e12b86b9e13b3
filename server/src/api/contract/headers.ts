/** The response headers of `/v1`, with their types and units. */
export const HEADERS = {
  'Request-Id': {
    description: "The id of this request in the server's log: `req_` and 26 characters.",
    schema: { type: 'string', examples: ['req_01JZ3Q8V6T9X2M4N5P7R8S9T0V'] },
  },
  'X-RateLimit-Limit': {
    description: 'How many requests the rate limit allows in 60 seconds.',
    schema: { type: 'integer', examples: [60] },
  },
  'X-RateLimit-Remaining': {
    description: 'How many more requests the rate limit allows now.',
    schema: { type: 'integer', minimum: 0, examples: [59] },
  },
  'X-RateLimit-Reset': {
    description: 'When the oldest counted request stops counting, as a Unix time in milliseconds (not seconds).',
    schema: { type: 'integer', examples: [1_782_000_000_000] },
  },
  'Retry-After': {
    description: 'How many seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1, examples: [7] },
  },
  'WWW-Authenticate': {
    description:
      'A Bearer challenge (RFC 6750) with the scopes to request, and `resource_metadata` (RFC 9728), from which an OAuth client learns where to get a token.',
    schema: { type: 'string' },
  },
  'Service-Rotation-Grace-Until': {
    description: 'Only for an API key that was rotated: when this key stops working, as an ISO 8601 time in UTC.',
    schema: { type: 'string', format: 'date-time' },
  },
  'Idempotent-Replayed': {
    description: '`true` if the payment existed already, under the same idempotency_key. Missing otherwise.',
    schema: { type: 'string', const: 'true' },
  },
  'Idempotent-Mismatch': {
    description:
      'Only with Idempotent-Replayed: the fields in which this request differs from the existing payment, separated by commas. Missing if they are equal.',
    schema: { type: 'string', examples: ['to, amount_usdc'] },
  },
} as const

export type HeaderName = keyof typeof HEADERS

/** Every response to a valid credential has these headers (D32, D34). */
const AUTHENTICATED: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Service-Rotation-Grace-Until',
]

/**
 * Returns the headers of a response by its status. `extra` are the headers that only a successful response of this
 * operation has.
 */
export function headersOf(status: number, extra: readonly HeaderName[] = []): readonly HeaderName[] {
  switch (status) {
    case 401:
      return ['Request-Id', 'WWW-Authenticate']
    case 403:
      return ['Request-Id', 'WWW-Authenticate', ...AUTHENTICATED]
    case 429:
    case 503:
      return ['Request-Id', 'Retry-After', ...AUTHENTICATED]
    default:
      return ['Request-Id', ...AUTHENTICATED, ...(status < 400 ? extra : [])]
  }
}
