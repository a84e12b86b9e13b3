/**
 * The shortest and the longest time for which a copy of a document is used without reading the document again (D73).
 */
const LIFETIME_MIN_MS = 5 * 60 * 1_000
const LIFETIME_MAX_MS = 24 * 60 * 60 * 1_000
/** The directive `max-age` in seconds, without or with quotes (RFC 9111, section 5.2). */
const MAX_AGE_PATTERN = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,15})"?\s*(?=,|$)/i

/**
 * Returns how long a copy of a client's document is used, in milliseconds: the `max-age` of its `Cache-Control` header,
 * but at least 5 minutes and at most 24 hours. Without `max-age`, even with `no-store`, the copy is used for 5 minutes,
 * because the copy must exist until the client has exchanged its code.
 */
export function lifetimeOf(cacheControl: string | undefined): number {
  const [, seconds = '0'] = MAX_AGE_PATTERN.exec(cacheControl ?? '') ?? []
  return Math.min(Math.max(Number(seconds) * 1_000, LIFETIME_MIN_MS), LIFETIME_MAX_MS)
}
