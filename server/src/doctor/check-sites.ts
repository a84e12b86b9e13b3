import { lookup } from 'node:dns'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, get as getHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import { isLocalhostName } from '../lib/outbound/allowed-address.ts'
import { sendThroughProxy, type EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { parseJson } from '../lib/parse-json.ts'
import { BodyTooLong, readBody } from '../lib/read-body.ts'
import { nameOf, type Finding } from './finding.ts'

const REQUEST_MS_MAX = 8_000
const RESPONSE_BYTES_MAX = 1024 * 1024
const DAYS_LEFT_WARN = 14
const MS_PER_DAY = 24 * 60 * 60 * 1_000

interface SiteResponse {
  readonly status: number
  /** Empty if it is too long. */
  readonly body: string
  readonly certificate: { readonly fault: string | null; readonly validTo: Date } | null
}

interface SiteOptions {
  readonly clock: Clock
  readonly proxy: EgressProxy | null
  /** Certificate authorities to trust instead of the usual ones. */
  readonly ca?: string
}

/**
 * Checks our own addresses, `BASE_URL`, `AUTH_URL` and `SIGNER_URL`, as clients would: that they can be reached, have a
 * valid certificate, and belong to this service.
 */
export async function checkSites(config: Config, options: SiteOptions): Promise<readonly Finding[]> {
  const sites = await Promise.all([
    checkSite('BASE_URL', config.baseUrl, { ...options, path: '/openapi.json', isOurs: isContract }),
    checkSite('AUTH_URL', config.authUrl, {
      ...options,
      path: '/.well-known/oauth-authorization-server',
      isOurs: (body) => readMember(readJson(body), 'issuer') === config.authUrl,
      assess: (body) => assessClientDocuments(readJson(body), config),
    }),
    checkSigner(config, options),
  ])
  return [...checkProxies(config), ...sites.flat()]
}

function checkProxies({ production, trustedProxies }: Config): readonly Finding[] {
  if (!production) return []
  const name = 'TRUSTED_PROXIES'
  if (trustedProxies.length > 0) return [{ level: 'ok', name, observed: `${trustedProxies.length} set` }]
  const advice = 'Set it to the TLS proxy in front of the service. Without it, every request counts as plain HTTP.'
  return [{ level: 'fail', name, observed: 'not set', advice }]
}

async function checkSigner({ signerUrl }: Config, options: SiteOptions): Promise<readonly Finding[]> {
  const name = 'SIGNER_URL'
  if (signerUrl !== null)
    return await checkSite(name, signerUrl, { ...options, path: '/SHA256SUMS', isOurs: listsSignerPage })
  const advice = 'Without a signer page, nobody can create wallets or sign for them. Set it to a host of its own.'
  return [{ level: 'warn', name, observed: 'not set', advice }]
}

async function checkSite(
  name: string,
  origin: string,
  {
    path,
    isOurs,
    assess,
    clock,
    proxy,
    ca,
  }: SiteOptions & { path: string; isOurs: (body: string) => boolean; assess?: (body: string) => Finding },
): Promise<readonly Finding[]> {
  let response: SiteResponse
  try {
    response = await fetchSite(new URL(path, origin), { ca, proxy })
  } catch (error) {
    const advice = 'Start the service and the TLS proxy, and check that the host name points to them.'
    return [{ level: 'fail', name, observed: `${origin} cannot be reached (${nameOf(error)})`, advice }]
  }
  const finding = assessResponse(name, origin, { response, isOurs })
  const more = finding.level === 'ok' && assess !== undefined ? [assess(response.body)] : []
  return [finding, ...more, ...assessCertificate(`${name}, TLS`, response, clock)]
}

function assessResponse(
  name: string,
  origin: string,
  { response: { status, body }, isOurs }: { response: SiteResponse; isOurs: (body: string) => boolean },
): Finding {
  if (status === 200 && isOurs(body)) return { level: 'ok', name, observed: `${origin} is served by this service` }
  if (readMember(readMember(readJson(body), 'error'), 'code') === 'https_required') {
    const advice = 'Configure the proxy to send `X-Forwarded-Proto: https`, and add it to TRUSTED_PROXIES.'
    return { level: 'fail', name, observed: 'the service treats requests as plain HTTP', advice }
  }
  const advice = `Another program responds at ${origin}, or the service there has another configuration.`
  return { level: 'fail', name, observed: `it responds with ${status}, but not as this service does`, advice }
}

/**
 * Checks that the running service and these settings agree on whether clients can use metadata documents (D73). If the
 * service offers that, clients do not register, so a process with the setting `off` would reject them.
 */
function assessClientDocuments(metadata: unknown, { clientDocuments }: Config): Finding {
  const name = 'OAUTH_CIMD'
  const [ours, theirs] = [clientDocuments, readMember(metadata, 'client_id_metadata_document_supported') === true].map(
    (isOn) => (isOn ? 'on' : 'off'),
  )
  if (ours === theirs) return { level: 'ok', name, observed: `${ours}, and the service agrees` }
  const advice = 'Start every process with the same OAUTH_CIMD. A cache in front of the service may be an hour behind.'
  return { level: 'warn', name, observed: `${ours} here, but the service at AUTH_URL has it ${theirs}`, advice }
}

function assessCertificate(name: string, { certificate }: SiteResponse, clock: Clock): readonly Finding[] {
  // Without a certificate the address uses plain http. The configuration allows that only for loopback.
  if (certificate === null) return []
  const { fault, validTo } = certificate
  if (fault !== null) {
    const advice =
      'Install a certificate for this host name, with its whole chain, from an authority that clients trust.'
    return [{ level: 'fail', name, observed: `the certificate is not valid (${fault})`, advice }]
  }
  const daysLeft = Math.floor((validTo.getTime() - clock.now().getTime()) / MS_PER_DAY)
  const level = daysLeft < DAYS_LEFT_WARN ? 'warn' : 'ok'
  return [
    { level, name, observed: `the certificate is valid for ${daysLeft} more days`, advice: 'Renew the certificate.' },
  ]
}

/**
 * Requests a page of a site. Accepts invalid certificates, because the doctor reports them. The request contains
 * nothing secret.
 */
async function fetchSite(
  url: URL,
  { ca, proxy }: { ca: string | undefined; proxy: EgressProxy | null },
): Promise<SiteResponse> {
  const agent = new HttpsAgent({ rejectUnauthorized: false, ...(ca === undefined ? {} : { ca }) })
  if (proxy !== null) sendThroughProxy(agent, proxy, async (host) => await Promise.resolve([host]))
  const signal = AbortSignal.timeout(REQUEST_MS_MAX)
  return await new Promise((resolve, reject) => {
    const receive = (response: IncomingMessage): void => {
      const certificate = response.socket instanceof TLSSocket ? readCertificate(response.socket) : null
      readText(response).then((body) => resolve({ status: response.statusCode ?? 0, body, certificate }), reject)
    }
    const request =
      url.protocol === 'https:'
        ? getHttps(url, { signal, agent, lookup: lookUp }, receive)
        : getHttp(url, { signal, agent: false, lookup: lookUp }, receive)
    request.on('error', reject)
  })
}

/** Browsers know that `signer.localhost` is this machine. Many resolvers do not. */
const lookUp: LookupFunction = (host, options, done) =>
  lookup(isLocalhostName(host) ? 'localhost' : host, options, done)

function readCertificate(socket: TLSSocket): NonNullable<SiteResponse['certificate']> {
  // Node's types say that `authorizationError` is an error, but it is an error code.
  const fault = socket.authorized ? null : String(socket.authorizationError)
  return { fault, validTo: new Date(socket.getPeerCertificate().valid_to) }
}

/** Returns the body; an empty text if it is too long. */
async function readText(response: IncomingMessage): Promise<string> {
  try {
    return (await readBody(response, RESPONSE_BYTES_MAX)).toString('utf8')
  } catch (error) {
    if (error instanceof BodyTooLong) return ''
    throw error
  }
}

/** Returns the body's JSON; undefined if it is not JSON. */
function readJson(body: string): unknown {
  try {
    return parseJson(body)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isContract(body: string): boolean {
  return typeof readMember(readJson(body), 'openapi') === 'string'
}

/** The page may be of another version than this program, if it is hosted apart from the service. */
function listsSignerPage(body: string): boolean {
  return /^[0-9a-f]{64}  index\.html$/m.test(body)
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
