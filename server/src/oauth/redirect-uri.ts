/**
 * Redirect URIs (specification, part 5; D36a). They are compared as raw strings (RFC 3986, section 6.2.1), since a parser
 * hides differences: `new URL()` makes `127.0.0.1` of `http://0x7f.1`, drops `:443` and walks `/a/../b`. So the form
 * allowed here is narrow, and whatever a parser would read differently from how it is written is refused.
 */
const URI_CHARS_MAX = 2_048
/** RFC 3986, section 2, without `#`: a fragment, an empty one too, is forbidden (RFC 6749, section 3.1.2). */
const URI_PATTERN = /^(https?):\/\/([^/?]+)([^?]*)(\?.*)?$/
const CHARACTERS = /^(?:[\w\-.~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
/** A host and a port, without user information. */
const AUTHORITY_PATTERN = /^([^:@*[\]]+|\[[\da-f:.]+\])(?::(\d+))?$/i
const PORT_PATTERN = /^[1-9]\d{0,4}$/
const PORT_MAX = 65_535
/** RFC 8252, section 7.3, and `localhost` (specification, part 5): these spellings and no other. */
const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '[::1]', 'localhost']
/** What we append ourselves: with one of them there already, a client would read the answer in two ways. */
const ANSWER_PARAMETERS: readonly string[] = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

export interface RedirectUri {
  /** As it was sent. */
  readonly text: string
  /** The text without its port where the port doesn't count: on loopback. Else the text. */
  readonly comparedText: string
}

/**
 * Whether a client may register the URI, or name it in a request; null when it may not. `ownOrigins`: ours, which never
 * receive codes.
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

/** Whether a request may name this URI: one of those registered, on loopback with whatever port (OAuth 2.1, section 8.4.2). */
export function isRegistered(requested: RedirectUri, registered: readonly string[]): boolean {
  return registered.some((text) => parseRedirectUri(text, [])?.comparedText === requested.comparedText)
}

/**
 * Appends what we answer to the URI as it stands; its own query is kept (OAuth 2.1, section 2.3). Values come back out of
 * it exactly as they are here.
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
