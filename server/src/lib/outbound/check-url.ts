import { isIP } from 'node:net'
import { isAllowedAddress, isLocalhostName, isLoopbackAddress } from './allowed-address.ts'
import type { OutboundPolicy } from './policy.ts'

/** What the database keeps. */
const URL_CHARS_MAX = 2_048
/** A parser drops some of these without a word. */
const CONTROL_OR_SPACE_PATTERN = /[\p{Cc}\s]/u
/** Names of networks that are not the public one (RFC 6761, 6762, 7686, 8375; ICANN for `internal`). */
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa', '.onion']

/** Why a URL is refused. */
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
 * Whether events may be sent to this URL (D45): https at its usual port, to a host that can be public and is not us. To
 * loopback also http and any port, where the policy says so. What a name resolves to is checked at each connection.
 * Answers the URL, or why not.
 */
export function checkWebhookUrl(text: string, policy: OutboundPolicy): URL | UrlFault {
  if (CONTROL_OR_SPACE_PATTERN.test(text) || !URL.canParse(text)) return 'not_a_url'
  const url = new URL(text)
  if (text.length > URL_CHARS_MAX || url.href.length > URL_CHARS_MAX) return 'too_long'
  const toLoopback = policy.allowLoopback && isLoopbackHost(url)
  if (url.protocol !== 'https:' && !(toLoopback && url.protocol === 'http:')) return 'not_https'
  if (url.username !== '' || url.password !== '') return 'has_credentials'
  // An empty one too.
  if (url.href.includes('#')) return 'has_fragment'
  if (!toLoopback && !isPublicHost(url, policy)) return 'host_not_public'
  if (toLoopback ? url.port === '0' : url.port !== '') return 'port_not_allowed'
  return policy.ownOrigins.some((origin) => isSameServer(url, new URL(origin))) ? 'own_origin' : url
}

function isPublicHost(url: URL, policy: OutboundPolicy): boolean {
  const host = hostOf(url)
  if (isIP(host) !== 0) return isAllowedAddress(host, policy)
  // A name without a dot is found in a local network only; one with a dot at its end is another spelling.
  if (!host.includes('.') || host.endsWith('.')) return false
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix))
}

/** A loopback server has many names. */
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
