import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Socket, type LookupFunction } from 'node:net'
import { isAllowedAddress } from './allowed-address.ts'
import { AddressBlocked, LookupFailed } from './outbound-error.ts'
import type { OutboundPolicy } from './policy.ts'
import { createHostResolver } from './resolve-host.ts'

/** Shorter than what servers commonly allow (5 s at least), so that we close an idle connection before they do. */
const SOCKET_IDLE_MS = 4_000
const IDLE_SOCKETS_PER_HOST_MAX = 8
const IDLE_SOCKETS_MAX = 256
/** At most so many of a name's addresses are dialled, at least one of each family. All of them are checked. */
const DIALLED_ADDRESSES_MAX = 3
/** The time for each address but the last. It allows for a lost packet, which is sent again after a second. */
const DIAL_MS = 3_000

/** Opens connections only to addresses that the policy allows. */
export interface Agents {
  /** Returns the agent for a new connection, or for one that may be reused. */
  pick(url: URL, connection: 'new' | 'pooled'): HttpAgent
  close(): void
}

/**
 * A host is resolved once per connection. Every address of the result is checked, and one of them is dialled, so a
 * second DNS response cannot differ. The connected socket is checked again, which also covers literal addresses. Pooled
 * connections were checked the same way. Proxies of the environment are not used: an agent uses one only if it is told
 * to.
 */
export function createAgents(policy: OutboundPolicy): Agents {
  const lookup = createCheckedLookup(policy)
  const dial = { lookup, autoSelectFamilyAttemptTimeout: DIAL_MS }
  const pool = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_PER_HOST_MAX, timeout: SOCKET_IDLE_MS, ...dial }
  // Set here, so that neither the environment nor the command line can change it.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const
  const agents = {
    pooled: { 'http:': new HttpAgent(pool), 'https:': new HttpsAgent({ ...pool, ...tls }) },
    new: { 'http:': new HttpAgent(dial), 'https:': new HttpsAgent({ ...dial, ...tls }) },
  }
  const all = [...Object.values(agents.pooled), ...Object.values(agents.new)]
  for (const agent of all) guard(agent, policy)
  return {
    pick: (url, connection) => agents[connection][url.protocol === 'https:' ? 'https:' : 'http:'],
    close: () => {
      for (const agent of all) agent.destroy()
    },
  }
}

/**
 * A lookup for `net.connect`. It fails if any of the host's addresses is not allowed, even one that would not be
 * dialled.
 */
function createCheckedLookup(policy: OutboundPolicy): LookupFunction {
  const resolve = policy.resolve ?? createHostResolver()
  return (hostname, options, callback) => {
    const look = async (): Promise<void> => {
      const addresses = await resolve(hostname).catch((error: unknown) => {
        throw new LookupFailed('the host name could not be resolved', { cause: error })
      })
      const [first] = addresses
      if (first === undefined) throw new LookupFailed('the host name has no address')
      if (!addresses.every(({ address }) => isAllowedAddress(address, policy))) {
        throw new AddressBlocked('the host name has an address that is not allowed')
      }
      if (options.all) callback(null, chooseDialled(addresses))
      else callback(null, first.address, first.family)
    }
    look().catch((error: unknown) => callback(error as Error, []))
  }
}

/** Keeps the order of the DNS response, and includes both families. */
function chooseDialled(addresses: readonly LookupAddress[]): LookupAddress[] {
  const firstOfEach = [...new Map(addresses.toReversed().map((address) => [address.family, address])).values()]
  const others = addresses.filter((address) => !firstOfEach.includes(address))
  const dialled = [...firstOfEach, ...others].slice(0, DIALLED_ADDRESSES_MAX)
  return addresses.filter((address) => dialled.includes(address))
}

function guard(agent: HttpAgent, policy: OutboundPolicy): void {
  const createConnection = agent.createConnection.bind(agent)
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = createConnection(options, callback)
    // The first listener, so that no byte is sent before the check.
    if (socket instanceof Socket) socket.prependOnceListener('connect', () => checkPeer(socket, policy))
    return socket
  }
  agent.keepSocketAlive = (socket) => countIdle(agent) < IDLE_SOCKETS_MAX && keepSocketAlive(socket)
}

function checkPeer(socket: Socket, policy: OutboundPolicy): void {
  if (isAllowedAddress(socket.remoteAddress ?? '', policy)) return
  socket.destroy(new AddressBlocked('the connection went to an address that is not allowed'))
}

function countIdle({ freeSockets }: HttpAgent): number {
  return Object.values(freeSockets).reduce((count, sockets) => count + (sockets?.length ?? 0), 0)
}
