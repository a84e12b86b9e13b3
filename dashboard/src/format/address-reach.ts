/**
 * From where the address of a service can be reached: everywhere, its private network only, or its own machine only.
 */
export type AddressReach = 'public' | 'private' | 'loopback'

const LOOPBACK_NAME = /(?:^|\.)localhost$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
/** Addresses that no public server has (RFC 1918, 3927, 4193, 4291 and 6598). */
const PRIVATE_IPV4 =
  /^10\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^169\.254\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./
const PRIVATE_IPV6 = /^\[(?:f[cd]|fe[89ab])/
/** Names that no public server has (RFC 6762 and 8375), and names without a domain. */
const PRIVATE_NAME = /\.(?:local|internal|lan|home\.arpa)$|^[^.:]+$/

/** Says from where an origin can be reached, as far as its text tells. */
export function findReach(origin: string): AddressReach {
  const { hostname } = new URL(origin)
  if (LOOPBACK_NAME.test(hostname)) return 'loopback'
  const isPrivate = IPV4.test(hostname)
    ? PRIVATE_IPV4.test(hostname)
    : PRIVATE_IPV6.test(hostname) || PRIVATE_NAME.test(hostname)
  return isPrivate ? 'private' : 'public'
}
