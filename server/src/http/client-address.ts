import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { FastifyRequest } from 'fastify'

/**
 * An internet subscriber has at least a /64 network, and can use every address in it. The network is the first four
 * groups of an IPv6 address.
 */
const NETWORK_GROUPS = 4
/**
 * An IPv4-mapped IPv6 address has the IPv4 address in its last two groups (RFC 4291, section 2.5.5.2). Each IPv4
 * address counts as one subscriber.
 */
const MAPPED_ADDRESS_GROUPS = 2
/** Some proxies append the port. */
const IPV4_WITH_PORT_PATTERN = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const IPV6_WITH_PORT_PATTERN = /^\[([^\]]*)\](?::\d+)?$/

/**
 * Returns the client that made a request, for the limits that count per address: an IPv4 address, or the /64 network
 * of an IPv6 address.
 */
export function clientAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  const address = IPV4_WITH_PORT_PATTERN.exec(ip)?.[1] ?? IPV6_WITH_PORT_PATTERN.exec(ip)?.[1] ?? ip
  const [bare = ''] = address.split('%')
  // A trusted proxy may report something that is not an address.
  if (!isIPv6(bare)) return address
  const parsed = ipaddr.IPv6.parse(bare)
  const groups = parsed.parts.map((part) => part.toString(16))
  if (parsed.isIPv4MappedAddress()) return groups.slice(-MAPPED_ADDRESS_GROUPS).join(':')
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`
}
