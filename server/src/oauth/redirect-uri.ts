/**
 * Redirect URIs (specification, part 5; D36a). They are compared as raw strings (RFC 3986, section 6.2.1), because a
 * parser hides differences: `new URL()` turns `http://0x7f.1` into `127.0.0.1`, drops `:443` and resolves `/a/../b`.
 * For the same reason, a URI is rejected if a parser would change its host or path.
 */
const URI_CHARS_MAX = 2_048
const URI_PATTERN = /^(https?):\/\/([^/?]+)([^?]*)(\?.*)?$/
/**
 * The allowed characters (RFC 3986, section 2) do not include `#`, because no fragment is allowed, not even an empty
 * one (RFC 6749, section 3.1.2).
 */
const CHARACTERS = /^(?:[\w\-.~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
/** A host and a port, without user information. */
const AUTHORITY_PATTERN = /^([^:@*[\]]+|\[[\da-f:.]+\])(?::(\d+))?$/i
const PORT_PATTERN = /^[1-9]\d{0,4}$/
const PORT_MAX = 65_535
/** The only allowed spellings of a loopback host (RFC 8252, section 7.3; specification, part 5, for `localhost`). */
const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '[::1]', 'localhost']
/**
 * The parameters of a response, which are appended to the redirect URI. If the URI already had one of them, the client
 * would receive it twice.
 */
const ANSWER_PARAMETERS: readonly string[] = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

export interface RedirectUri {
  /** The URI as it was sent. */
  readonly text: string
  /** The text that is compared. It has no port if the host is loopback, because any port is allowed there. */
  readonly comparedText: string
}

/**
 * Parses a URI that a client registers, or names in a request. Returns null if it is not allowed. `ownOrigins` are the
 * origins of this service, which must never receive codes.
 */
export function parseRedirectUri(text: string, ownOrigins: readonly string[]): RedirectUri | null {
  if (text.length > URI_CHARS_MAX || !CHARACTERS.test(text)) return null
  const [, scheme = '', authority = '', path = '', query = ''] = URI_PATTERN.exec(text) ?? []
  const [, host = '', port] = AUTHORITY_PATTERN.exec(authority) ?? []
  if (host === '' || !isPort(port) || !isReadAsWritten(text, { host, path })) return null
  if (ownOrigins.includes(new URL(text).origin) || namesAnswerParameter(query)) return null
  if (scheme === 'https') return { text, comparedText: text }
  if (!LOOPBACK_HOSTS.includes(host)) return null
  return { text, comparedText: `http://${host}${path}${query}` }
}

/** Returns whether the URI uses plain http. Then it is on loopback, because http is allowed nowhere else. */
export function isLoopbackUri({ comparedText }: RedirectUri): boolean {
  return comparedText.startsWith('http://')
}

/** Returns whether a URI matches a registered URI. On loopback, any port is allowed (OAuth 2.1, section 8.4.2). */
export function isRegistered(requested: RedirectUri, registered: readonly string[]): boolean {
  return registered.some((text) => parseRedirectUri(text, [])?.comparedText === requested.comparedText)
}

/**
 * Appends the parameters of a response to the redirect URI, and keeps the URI's own query (OAuth 2.1, section 2.3). The
 * values are encoded, so that the client reads exactly the given values.
 */
export function formatAnswerUri(redirectUri: string, answer: Readonly<Record<string, string>>): string {
  const added = Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return redirectUri + separatorAfter(redirectUri) + added.join('&')
}

function separatorAfter(uri: string): string {
  if (!uri.includes('?')) return '?'
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&'
}

function isPort(text: string | undefined): boolean {
  return text === undefined || (PORT_PATTERN.test(text) && Number(text) <= PORT_MAX)
}

function isReadAsWritten(text: string, { host, path }: { host: string; path: string }): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, pathname } = new URL(text)
  return hostname === host.toLowerCase() && pathname === (path === '' ? '/' : path)
}

function namesAnswerParameter(query: string): boolean {
  const names = [...new URLSearchParams(query).keys()]
  return names.some((name) => ANSWER_PARAMETERS.includes(name))
}
