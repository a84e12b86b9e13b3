const SECONDS_PATTERN = /^\d{1,9}$/

/**
 * How long the sender of a response asks to be left alone (RFC 9110, section 10.2.3), in milliseconds; null when it does
 * not say, or says something else. A date counts from the response's own `Date`, so that our clock need not agree with
 * the sender's. A date in the past is no time at all.
 */
export function parseRetryAfterMs(headers: Pick<Headers, 'get'>): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (SECONDS_PATTERN.test(text)) return Number(text) * 1_000
  const waitMs = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(waitMs) ? null : Math.max(waitMs, 0)
}
