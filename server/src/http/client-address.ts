import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

const GROUPS_COUNT = 8
/** A subscriber has a /64 at least, and may walk through it. */
const NETWORK_GROUPS = 4
const MAPPED_IPV4_PATTERN = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Whom the limits per address count: an IPv4 address, or the /64 network of an IPv6 one. */
export function clientAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  const mapped = MAPPED_IPV4_PATTERN.exec(ip)?.[1]
  if (mapped !== undefined) return mapped
  // What a trusted proxy says need not be an address.
  if (!isIPv6(ip)) return ip
  const [address = ''] = ip.toLowerCase().split('%')
  const [left = '', right] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const missing = GROUPS_COUNT - left.length - (right?.length ?? 0)
  const groups = right === undefined ? [...left] : [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${network.join(':')}::/64`
}
