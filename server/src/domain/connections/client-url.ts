/**
 * The URL of a client metadata document, which is also the client's id (D73). The text is checked as it was sent,
 * because a parser hides differences: `new URL()` drops `:443`, lowers the case of the host and resolves `/a/../b`.
 */
const CHARS_MAX = 2_048
/**
 * Https, a host name or an IPv4 address, an optional port, and a path that is not only `/`. A query, a fragment and
 * user information are not allowed. An upper-case host is another spelling of the same host, so it is rejected too.
 */
const URL_PATTERN = /^https:\/\/([a-z0-9.-]+)(?::[1-9]\d{0,4})?(\/(?:[\w\-.~:/@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)$/
const ENCODED_PATTERN = /%([0-9A-Fa-f]{2})/g
/** The web server that hosts the document may decode a path twice before it looks for the file. */
const DECODINGS_MAX = 2

/**
 * Returns whether a `client_id` is meant to be a URL, even if the URL is not acceptable. Registered ids are never URLs.
 */
export function looksLikeUrl(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** Returns whether a `client_id` is a URL from which the service may fetch a client metadata document. */
export function isClientUrl(text: string): boolean {
  if (text.length > CHARS_MAX) return false
  const [, host = '', path = ''] = URL_PATTERN.exec(text) ?? []
  if (host === '' || !URL.canParse(text)) return false
  const { hostname, pathname } = new URL(text)
  return hostname === host && pathname === path && !hasDotSegment(path)
}

/** Returns the host of a client's URL, and its port unless the port is 443. Users know the application by this host. */
export function hostOfClientUrl(url: string): string {
  return new URL(url).host
}

/** Returns whether the path has a segment `.` or `..`, as it is written or after it is decoded once or twice. */
function hasDotSegment(path: string): boolean {
  let text = path
  for (let decodings = 0; decodings <= DECODINGS_MAX; decodings += 1) {
    if (text.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')) return true
    text = text.replace(ENCODED_PATTERN, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  return false
}
