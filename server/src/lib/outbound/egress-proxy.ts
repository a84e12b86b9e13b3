import { request as requestHttp } from 'node:http'
import { request as requestHttps, type Agent as HttpsAgent } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { Logger } from '../logger.ts'
import { NOT_MEASURED, type Measurements, type TunnelOutcome } from '../measurements.ts'
import { ProxyFailed } from './outbound-error.ts'

/** How long the proxy may be silent while it opens a tunnel. */
const TUNNEL_TIMEOUT_MS = 5_000
/** Node's default. It is set explicitly so that Node's option `--max-http-header-size` cannot raise it. */
const ANSWER_HEADER_BYTES_MAX = 16 * 1024
const HTTPS_PORT = 443
const PROXY_AUTHENTICATION_REQUIRED = 407

export interface EgressProxySettings {
  /** The proxy's URL, http or https. It may contain a user name and a password, so it is never logged. */
  readonly url: string
  /** The hosts that are called directly: names with their subdomains, addresses, or `*`; each may have a port. */
  readonly exempt: readonly string[]
}

/** The HTTP proxy through which a process sends its https requests to other servers. */
export interface EgressProxy {
  isUsedFor(host: string, port: number): boolean
  /**
   * Asks the proxy for a tunnel (CONNECT; RFC 9110, section 9.3.6), in which the caller then speaks TLS with the target.
   * The proxy never sees the request. @throws ProxyFailed
   */
  openTunnel(host: string, port: number): Promise<Socket>
}

/** Prepares the use of the proxy. Returns null if there is none. */
export function openEgressProxy(
  settings: EgressProxySettings | null,
  { logger, measurements = NOT_MEASURED }: { logger: Logger; measurements?: Measurements },
): EgressProxy | null {
  if (settings === null) return null
  const url = new URL(settings.url)
  const exempt = settings.exempt.map(parseExempt)
  /** The last outcome that says whether the proxy itself works. */
  let health: TunnelOutcome = 'ok'

  function report(outcome: TunnelOutcome, reason: string): void {
    measurements.tunnelRequested(outcome)
    // Whether the proxy rejects one target says nothing about the others.
    if (outcome === 'rejected' || outcome === health) return
    health = outcome
    if (outcome === 'ok') logger.info('the proxy of HTTPS_PROXY works again')
    else logger.warn({ reason }, 'the proxy of HTTPS_PROXY does not work: no https request can be sent')
  }

  return {
    isUsedFor: (host, port) => !exempt.some((entry) => entry.covers(host.toLowerCase(), port)),
    openTunnel: async (host, port) => {
      try {
        const socket = await connect(url, isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`)
        report('ok', '')
        return socket
      } catch (error) {
        if (!(error instanceof ProxyFailed)) throw error
        report(error.outcome, error.message)
        throw error
      }
    },
  }
}

/**
 * Makes an agent send its requests through the proxy. `resolve` returns what the proxy is asked to connect to, in order
 * of preference. TLS is the same as on a direct connection: the certificate must be valid for the host of the URL.
 */
export function sendThroughProxy(
  agent: HttpsAgent,
  proxy: EgressProxy,
  resolve: (host: string) => Promise<readonly string[]>,
): void {
  const createConnection = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const host = options.host ?? ''
    const port = Number(options.port ?? HTTPS_PORT)
    if (!proxy.isUsedFor(host, port)) return createConnection(options, callback)
    const open = async (): Promise<ReturnType<typeof createConnection>> => {
      const socket = await openFirst(proxy, await resolve(host), port)
      const inTunnel = { ...options, socket }
      return createConnection(inTunnel)
    }
    open().then(
      (socket) => callback?.(null, socket as Socket),
      (error: Error) => callback?.(error, undefined as never),
    )
    return undefined
  }
}

/** Opens a tunnel to the first target that the proxy reaches. */
async function openFirst(proxy: EgressProxy, targets: readonly string[], port: number): Promise<Socket> {
  let failure = new ProxyFailed('rejected', 'there is nothing to connect to')
  for (const target of targets) {
    try {
      return await proxy.openTunnel(target, port)
    } catch (error) {
      if (!(error instanceof ProxyFailed) || error.outcome !== 'rejected') throw error
      failure = error
    }
  }
  throw failure
}

async function connect(proxy: URL, authority: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const sent = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorizationOf(proxy) },
    agent: false,
    rejectUnauthorized: true,
    timeout: TUNNEL_TIMEOUT_MS,
    maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
  })
  sent.on('timeout', () => sent.destroy(new Error('it did not respond in time')))
  sent.on('error', (error) => reject(new ProxyFailed('unreachable', describe(error), { cause: error })))
  // Node emits this event for every status.
  sent.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
    socket.setTimeout(0)
    // In TLS, the client speaks first. So these bytes cannot come from the target.
    if (statusCode === 200 && head.length === 0) return resolve(socket)
    socket.destroy()
    const outcome = statusCode === PROXY_AUTHENTICATION_REQUIRED ? 'unauthorized' : 'rejected'
    reject(new ProxyFailed(outcome, `it responded with status ${statusCode}`))
  })
  sent.end()
  return await promise
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}

function describe(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message
}

function parseExempt(text: string): { covers(host: string, port: number): boolean } {
  const entry = text.toLowerCase()
  const [, name = '', port] = isIP(entry) === 6 ? [entry, entry] : (/^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [])
  const suffix = name.replace(/^\*?\./, '')
  return {
    covers: (host, toPort) =>
      (port === undefined || Number(port) === toPort) &&
      (name === '*' || host === suffix || host.endsWith(`.${suffix}`)),
  }
}
