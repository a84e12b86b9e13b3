import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { FastifyRequest } from 'fastify'

/**
 * An internet subscriber has at least a /64 network, and can use every address in it. The network is the first four
 * groups of an IPv6 address.
 */
const NETWORK_GROUPS = 4
/** A site usually gets a /48 network, which is 65,536 networks of the former kind (RFC 6177). */
const SITE_GROUPS = 3
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
export function clientAddress(request: Pick<FastifyRequest, 'ip'>): string {
  return networkOf(request, NETWORK_GROUPS)
}

/**
 * Returns the network to which a stranger's share belongs (D91): an IPv4 address, or the /48 network of an IPv6
 * address.
 */
export function clientNetwork(request: Pick<FastifyRequest, 'ip'>): string {
  return networkOf(request, SITE_GROUPS)
}

function networkOf({ ip }: Pick<FastifyRequest, 'ip'>, groupsOfNetwork: number): string {
  const address = IPV4_WITH_PORT_PATTERN.exec(ip)?.[1] ?? IPV6_WITH_PORT_PATTERN.exec(ip)?.[1] ?? ip
  const [bare = ''] = address.split('%')
  // A trusted proxy may report something that is not an address.
  if (!isIPv6(bare)) return address
  const parsed = ipaddr.IPv6.parse(bare)
  const groups = parsed.parts.map((part) => part.toString(16))
  if (parsed.isIPv4MappedAddress()) return groups.slice(-MAPPED_ADDRESS_GROUPS).join(':')
  return `${groups.slice(0, groupsOfNetwork).join(':')}::/${16 * groupsOfNetwork}`
}
