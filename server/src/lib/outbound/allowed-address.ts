import { BlockList, isIP } from 'node:net'
import type { OutboundPolicy } from './policy.ts'

// The ranges are listed here, and Node's `BlockList` matches them. The library ipaddr.js cannot replace these lists,
// because it treats 168.63.129.16, 3ffe::/16 and most addresses outside 2000::/3 as ordinary unicast addresses.

/**
 * IPv4 addresses that are not public hosts: IANA's special-purpose registry, multicast, the reserved ranges, and one
 * public address (168.63.129.16) at which machines in the Azure cloud reach the cloud's own platform.
 */
const IPV4_REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Global unicast (RFC 4291, section 2.4). Every other address is rejected: loopback, link-local, unique local,
 * multicast, and addresses that contain an IPv4 address (mapped, compatible, NAT64).
 */
const IPV6_PUBLIC = ['2000::/3']
/**
 * Ranges inside global unicast that are not public hosts: protocol assignments such as Teredo, documentation, 6to4,
 * AS112.
 */
const IPV6_REFUSED = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20']

const refusedIpv4 = listSubnets('ipv4', IPV4_REFUSED)
const publicIpv6 = listSubnets('ipv6', IPV6_PUBLIC)
const refusedIpv6 = listSubnets('ipv6', IPV6_REFUSED)
const loopbackIpv4 = listSubnets('ipv4', ['127.0.0.0/8'])
/**
 * IPv6 has its own list, because a list with an IPv4 subnet also matches the IPv6 addresses that map to this subnet.
 */
const loopbackIpv6 = listSubnets('ipv6', ['::1/128'])

/**
 * Returns whether the policy allows connections to this address. The address must be public unicast, or loopback if the
 * policy allows loopback (D45).
 */
export function isAllowedAddress(address: string, policy: Pick<OutboundPolicy, 'allowLoopback'>): boolean {
  if (policy.allowLoopback && isLoopbackAddress(address)) return true
  if (address.includes('%')) return false
  switch (isIP(address)) {
    case 4:
      return !refusedIpv4.check(address, 'ipv4')
    case 6:
      return publicIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6')
    default:
      return false
  }
}

export function isLoopbackAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return loopbackIpv4.check(address, 'ipv4')
    case 6:
      return loopbackIpv6.check(address, 'ipv6')
    default:
      return false
  }
}

/** `localhost` and its subdomains always mean this machine (RFC 6761, section 6.3). */
export function isLocalhostName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

function listSubnets(family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
