import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

const GROUPS_COUNT = 8
/** A subscriber has a /64 at least, and may walk through it. */
const NETWORK_GROUPS = 4
/** IPv4 addresses in IPv6 form: one subscriber each (RFC 4291, section 2.5.5.2). */
const MAPPED_GROUPS = ['0', '0', '0', '0', '0', 'ffff']
/** Some proxies tell the port too. */
const IPV4_WITH_PORT_PATTERN = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const IPV6_WITH_PORT_PATTERN = /^\[([^\]]*)\](?::\d+)?$/

/** Whom the limits per address count: an IPv4 address, or the /64 network of an IPv6 one. */
export function clientAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  const address = IPV4_WITH_PORT_PATTERN.exec(ip)?.[1] ?? IPV6_WITH_PORT_PATTERN.exec(ip)?.[1] ?? ip
  const [bare = ''] = address.split('%')
  // What a trusted proxy says need not be an address.
  if (!isIPv6(bare)) return address
  const groups = toGroups(bare)
  if (MAPPED_GROUPS.every((group, index) => groups[index] === group))
    return groups.slice(MAPPED_GROUPS.length).join(':')
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`
}

/** The eight groups of an IPv6 address, without leading zeros. `URL` writes them all in hexadecimal. */
function toGroups(address: string): string[] {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const split = (half: string): string[] => half.split(':').filter((group) => group !== '')
  if (right === undefined) return split(left)
  const missing = GROUPS_COUNT - split(left).length - split(right).length
  return [...split(left), ...Array.from({ length: missing }, () => '0'), ...split(right)]
}
