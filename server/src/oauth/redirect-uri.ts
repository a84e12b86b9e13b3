/**
 * Redirect URIs (specification, part 5; D36a). They are compared as raw strings (RFC 3986, section 6.2.1), because a
 * parser hides differences: `new URL()` turns `http://0x7f.1` into `127.0.0.1`, drops `:443` and resolves `/a/../b`.
 * For the same reason, a URI is rejected if a parser would change its host or path.
 */
const URI_CHARS_MAX = 2_048
const FAULTS_NAMED_MAX = 10
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
  if (findRedirectUriFault(text, ownOrigins) !== null) return null
  const { scheme, host, path, query } = splitUri(text)
  return { text, comparedText: scheme === 'https' ? text : `http://${host}${path}${query}` }
}

/**
 * Returns the rule that a redirect URI breaks, as the end of a sentence that begins with the URI, or null if the URI is
 * allowed. The text is printable ASCII, and contains nothing of the URI.
 */
export function findRedirectUriFault(text: string, ownOrigins: readonly string[]): string | null {
  if (text.length > URI_CHARS_MAX) return `has more than ${URI_CHARS_MAX} characters`
  if (text.includes('#')) return 'has a fragment (#)'
  if (!CHARACTERS.test(text)) return 'has a character that a URI must not contain'
  const { scheme, authority, host, port, path, query } = splitUri(text)
  if (authority === '') return 'does not begin with https:// or http://'
  if (authority.includes('@')) return 'has user information (@)'
  if (authority.includes('*')) return 'has a wildcard (*) in its host'
  if (host === '' || !isPort(port)) return `has a host or port that is not valid (ports are 1 to ${PORT_MAX})`
  if (!isReadAsWritten(text, { host, path })) return 'has a host or path that browsers rewrite, such as /../'
  if (ownOrigins.includes(new URL(text).origin)) return 'is an address of this service'
  const parameter = findAnswerParameter(query)
  if (parameter !== undefined) return `has ${parameter} in its query, which the response adds`
  const isAllowed = scheme === 'https' || LOOPBACK_HOSTS.includes(host)
  return isAllowed ? null : `uses http on a host other than ${LOOPBACK_HOSTS.join(', ')}`
}

/** Says which rule each of these redirect URIs breaks, by its position in the list. At most 10 are named. */
export function describeRedirectUriFaults(
  texts: readonly string[],
  findFault: (text: string) => string | null,
): string {
  const faults = texts.slice(0, FAULTS_NAMED_MAX).map((text, index) => `redirect_uris[${index}] ${findFault(text)}`)
  return faults.join('; ')
}

interface UriParts {
  readonly scheme: string
  readonly authority: string
  readonly host: string
  readonly port: string | undefined
  readonly path: string
  readonly query: string
}

/** Splits a URI into its parts. A part that the URI does not have is empty. */
function splitUri(text: string): UriParts {
  const [, scheme = '', authority = '', path = '', query = ''] = URI_PATTERN.exec(text) ?? []
  const [, host = '', port] = AUTHORITY_PATTERN.exec(authority) ?? []
  return { scheme, authority, host, port, path, query }
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

function findAnswerParameter(query: string): string | undefined {
  const names = [...new URLSearchParams(query).keys()]
  return names.find((name) => ANSWER_PARAMETERS.includes(name))
}
