import { isIP } from 'node:net'
import { isAllowedAddress, isLocalhostName, isLoopbackAddress } from './allowed-address.ts'
import type { OutboundPolicy } from './policy.ts'

/** The same as `URL_CHARS_MAX` of values/limits.ts, which files below `lib` cannot import. */
const HREF_CHARS_MAX = 2_048
/** The longest host name (RFC 1035, section 2.3.4, without the dot at its end). */
export const HOST_CHARS_MAX = 253
/** Characters that a URL must not contain. The URL parser silently removes some of them. */
const CONTROL_OR_SPACE_PATTERN = /[\p{Cc}\s]/u
/** Host names with these suffixes do not exist in the public DNS (RFC 6761, 6762, 7686, 8375; ICANN for `internal`). */
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa', '.onion']

/** Why a URL is rejected. */
export type UrlFault =
  | 'not_a_url'
  | 'too_long'
  | 'not_https'
  | 'has_credentials'
  | 'has_fragment'
  | 'host_not_public'
  | 'port_not_allowed'
  | 'own_origin'

/**
 * Checks whether events may be sent to this URL (D45). The URL must be https on the default port, and its host must be
 * public and not ours. If the policy allows loopback, a loopback URL may also use http and any port. The addresses of a
 * host name are checked later, at each connection. Returns the URL, or the reason why it is rejected.
 */
export function checkWebhookUrl(text: string, policy: OutboundPolicy): URL | UrlFault {
  return checkUrl(text, policy, { isAnyPortAllowed: false })
}

/**
 * Checks whether a client metadata document may be fetched from this URL (D73). The rules are those of webhooks, except
 * that any port is allowed, because the URL with its port is the client's id.
 */
export function checkDocumentUrl(text: string, policy: OutboundPolicy): URL | UrlFault {
  return checkUrl(text, policy, { isAnyPortAllowed: true })
}

function checkUrl(
  text: string,
  policy: OutboundPolicy,
  { isAnyPortAllowed }: { isAnyPortAllowed: boolean },
): URL | UrlFault {
  if (CONTROL_OR_SPACE_PATTERN.test(text) || !URL.canParse(text)) return 'not_a_url'
  const url = new URL(text)
  if (text.length > HREF_CHARS_MAX || url.href.length > HREF_CHARS_MAX) return 'too_long'
  const toLoopback = policy.allowLoopback && isLoopbackHost(url)
  if (url.protocol !== 'https:' && !(toLoopback && url.protocol === 'http:')) return 'not_https'
  if (url.username !== '' || url.password !== '') return 'has_credentials'
  // `url.hash` would not show an empty fragment (a `#` at the end), which is also rejected.
  if (url.href.includes('#')) return 'has_fragment'
  if (url.hostname.length > HOST_CHARS_MAX || !(toLoopback || isPublicHost(url, policy))) return 'host_not_public'
  if (toLoopback || isAnyPortAllowed ? url.port === '0' : url.port !== '') return 'port_not_allowed'
  return policy.ownOrigins.some((origin) => isSameServer(url, new URL(origin))) ? 'own_origin' : url
}

function isPublicHost(url: URL, policy: OutboundPolicy): boolean {
  const host = hostOf(url)
  if (isIP(host) !== 0) return isAllowedAddress(host, policy)
  // A name without a dot exists only in local networks. A name with a dot at the end is rejected because it is another
  // spelling of the name without this dot.
  if (!host.includes('.') || host.endsWith('.')) return false
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix))
}

/**
 * Returns whether two URLs lead to the same server. Two loopback hosts with the same port count as the same, because
 * loopback has many names.
 */
function isSameServer(url: URL, own: URL): boolean {
  if (portOf(url) !== portOf(own)) return false
  return url.hostname === own.hostname || (isLoopbackHost(url) && isLoopbackHost(own))
}

function isLoopbackHost(url: URL): boolean {
  const host = hostOf(url)
  return isLocalhostName(host) || isLoopbackAddress(host)
}

function portOf({ protocol, port }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
