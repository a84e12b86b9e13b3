import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, Socket, type LookupFunction } from 'node:net'
import type { Clock } from '../clock.ts'
import { isAllowedAddress } from './allowed-address.ts'
import { sendThroughProxy } from './egress-proxy.ts'
import { AddressBlocked, LookupFailed } from './outbound-error.ts'
import type { OutboundPolicy, ResolveHost } from './policy.ts'
import { createHostResolver } from './resolve-host.ts'

/**
 * Servers commonly close an idle connection after 5 s or more. Our time limit is shorter, so that we close the
 * connection before the server does.
 */
const SOCKET_IDLE_MS = 4_000
/** Enough for a workspace with ten endpoints on one host, so that deliveries to them need no new connections. */
const IDLE_SOCKETS_PER_HOST_MAX = 40
const IDLE_SOCKETS_MAX = 256
/** A connection older than this is closed after use, so that even a busy sender notices new addresses of the host. */
const SOCKET_LIFETIME_MS = 60_000
/**
 * At most this many addresses of a host are tried. If the host has both IPv4 and IPv6 addresses, at least one of each
 * kind is tried. The policy must allow all addresses, even those that are not tried.
 */
const DIALLED_ADDRESSES_MAX = 3
/** How long to try an address before the next one. It allows for a lost packet, which is sent again after a second. */
const DIAL_MS = 3_000

/** Says which requests may use the same kept connections. */
export interface ConnectionScope {
  /** A kept connection is reused only for requests with the same value, such as a workspace's id, without spaces. */
  readonly connectionsOf: string
}

/** Opens connections only to addresses that the policy allows. */
export interface Agents {
  /** Returns an agent that opens a new connection (`new`), or one that may reuse a kept connection (`pooled`). */
  pick(url: URL, connection: 'new' | 'pooled'): HttpAgent
  close(): void
}

/**
 * Creates agents that resolve a host once per connection. They check every address of the DNS response and connect to
 * one of these addresses. There is no second DNS response that could contain an unchecked address. They check the
 * connected socket again, which also covers URLs that contain an IP address. Pooled connections were checked the same
 * way. With an egress proxy, they resolve and check the host in the same way, and ask the proxy for a tunnel to one of
 * the checked addresses. So the proxy resolves no name.
 *
 * Requests have a `ConnectionScope`, so that a server never sees two workspaces on one connection, and cannot leave a
 * response on a connection for the request of another workspace.
 */
export function createAgents(policy: OutboundPolicy, clock: Clock): Agents {
  const resolve = createCheckedResolver(policy)
  const lookup = createCheckedLookup(resolve)
  const dial = { lookup, autoSelectFamilyAttemptTimeout: DIAL_MS }
  const pool = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_PER_HOST_MAX, timeout: SOCKET_IDLE_MS, ...dial }
  // These options are set explicitly, so that neither the environment nor the command line can change them.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const
  const agents = {
    pooled: { 'http:': new HttpAgent(pool), 'https:': new HttpsAgent({ ...pool, ...tls }) },
    new: { 'http:': new HttpAgent(dial), 'https:': new HttpsAgent({ ...dial, ...tls }) },
  }
  const all = [...Object.values(agents.pooled), ...Object.values(agents.new)]
  for (const agent of all) guard(agent, policy, clock)
  if (policy.proxy != null) {
    for (const kept of Object.values(agents))
      sendThroughProxy(kept['https:'], policy.proxy, listTargets(resolve, policy))
  }
  return {
    pick: (url, connection) => agents[connection][url.protocol === 'https:' ? 'https:' : 'http:'],
    close: () => {
      for (const agent of all) agent.destroy()
    },
  }
}

/**
 * Creates a function that resolves a host. It fails if any of the host's addresses is not allowed, even one that would
 * not be tried.
 */
function createCheckedResolver(policy: OutboundPolicy): ResolveHost {
  const resolve = policy.resolve ?? createHostResolver()
  return async (hostname) => {
    const addresses = await resolve(hostname).catch((error: unknown) => {
      throw new LookupFailed('the host name could not be resolved', { cause: error })
    })
    if (addresses.length === 0) throw new LookupFailed('the host name has no address')
    if (!addresses.every(({ address }) => isAllowedAddress(address, policy))) {
      throw new AddressBlocked('the host name has an address that is not allowed')
    }
    return chooseDialled(addresses)
  }
}

/** Creates a lookup function for `net.connect`. */
function createCheckedLookup(resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    const look = async (): Promise<void> => {
      const addresses = await resolve(hostname)
      const [first] = addresses
      if (options.all) callback(null, [...addresses])
      else callback(null, first?.address ?? '', first?.family)
    }
    look().catch((error: unknown) => callback(error as Error, []))
  }
}

/** Creates a function that returns the addresses to which a proxy may be asked to connect. */
function listTargets(resolve: ResolveHost, policy: OutboundPolicy): (host: string) => Promise<readonly string[]> {
  return async (host) => {
    if (isIP(host) === 0) return (await resolve(host)).map(({ address }) => address)
    if (!isAllowedAddress(host, policy)) throw new AddressBlocked('the address is not allowed')
    return [host]
  }
}

/** Chooses the addresses to try, in the order of the DNS response. Includes IPv4 and IPv6 if the host has both. */
function chooseDialled(addresses: readonly LookupAddress[]): LookupAddress[] {
  const firstOfEach = [...new Map(addresses.toReversed().map((address) => [address.family, address])).values()]
  const others = addresses.filter((address) => !firstOfEach.includes(address))
  const dialled = [...firstOfEach, ...others].slice(0, DIALLED_ADDRESSES_MAX)
  return addresses.filter((address) => dialled.includes(address))
}

function guard(agent: HttpAgent, policy: OutboundPolicy, clock: Clock): void {
  const createConnection = agent.createConnection.bind(agent)
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  const getName = agent.getName.bind(agent)
  const createdAt = new WeakMap<object, number>()
  agent.createConnection = (options, callback) => {
    const socket = createConnection(options, callback)
    if (socket instanceof Socket) {
      createdAt.set(socket, clock.now().getTime())
      // The check is the first listener, so that no byte is sent before it. A connection in the tunnel of a proxy does
      // not emit this event, because the tunnel is already open.
      socket.prependOnceListener('connect', () => checkPeer(socket, policy))
    }
    return socket
  }
  agent.keepSocketAlive = (socket) => {
    const ageMs = clock.now().getTime() - (createdAt.get(socket) ?? Number.NEGATIVE_INFINITY)
    // The age is negative if the clock was set back.
    if (ageMs < 0 || ageMs >= SOCKET_LIFETIME_MS || countIdle(agent) >= IDLE_SOCKETS_MAX) return false
    return keepSocketAlive(socket)
  }
  // Node reuses a connection, and a TLS session, only for a request with the same name.
  agent.getName = (options) => `${scopeOf(options)} ${getName(options)}`
}

/** Returns the scope of a request. The agent's options contain it, although their type does not. */
function scopeOf(options: object | undefined): string {
  return options !== undefined && 'connectionsOf' in options ? String(options.connectionsOf) : ''
}

function checkPeer(socket: Socket, policy: OutboundPolicy): void {
  if (isAllowedAddress(socket.remoteAddress ?? '', policy)) return
  socket.destroy(new AddressBlocked('the connection went to an address that is not allowed'))
}

function countIdle({ freeSockets }: HttpAgent): number {
  return Object.values(freeSockets).reduce((count, sockets) => count + (sockets?.length ?? 0), 0)
}
