import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isLocalhostName } from './allowed-address.ts'
import type { ResolveHost } from './policy.ts'

/**
 * A name server that does not respond is queried again once. Both queries fit into the time limit of one delivery
 * attempt.
 */
const QUERY_TIMEOUT_MS = 2_500
const QUERY_TRIES = 2

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Makes a resolver that queries name servers only. It does not use the system's `getaddrinfo`, which has no time limit,
 * also finds names of the local network, and blocks one of the process's few worker threads while a name server does
 * not respond. `servers` replaces the machine's own name servers.
 */
export function createHostResolver(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  if (servers !== undefined) resolver.setServers(servers)

  return async (hostname) => {
    if (isLocalhostName(hostname)) return LOOPBACK
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    // If a name has only IPv4 or only IPv6 addresses, many name servers fail when they are asked for the other kind. So
    // one of the two results is enough.
    const addresses = [...toAddresses(ipv4, 4), ...toAddresses(ipv6, 6)]
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  }
}

function toAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'rejected' ? [] : answer.value.map((address) => ({ address, family }))
}
