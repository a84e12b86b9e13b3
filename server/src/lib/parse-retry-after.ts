const SECONDS_PATTERN = /^\d{1,9}$/

/**
 * Returns the wait of a `Retry-After` header in milliseconds (RFC 9110, section 10.2.3), or null if the header is
 * missing or not valid. A date is compared with the response's own `Date` header, so the server's clock need not agree
 * with ours. A date in the past means 0.
 */
export function parseRetryAfterMs(headers: Pick<Headers, 'get'>): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (SECONDS_PATTERN.test(text)) return Number(text) * 1_000
  const waitMs = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(waitMs) ? null : Math.max(waitMs, 0)
}
