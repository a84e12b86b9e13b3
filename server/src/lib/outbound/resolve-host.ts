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
 * Makes a resolver that queries name servers only. The system's `getaddrinfo` would block one of the process's few
 * worker threads while a name server does not respond, would find names of the local network, and has no time limit.
 * `servers` replaces the machine's own name servers.
 */
export function createHostResolver(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  if (servers !== undefined) resolver.setServers(servers)

  return async (hostname) => {
    if (isLocalhostName(hostname)) return LOOPBACK
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    // Many name servers fail for the address family that a name does not have, so one of the two results is enough.
    const addresses = [...toAddresses(ipv4, 4), ...toAddresses(ipv6, 6)]
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  }
}

function toAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'rejected' ? [] : answer.value.map((address) => ({ address, family }))
}
