import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../output/clean-text.ts'
import { checkNotRedirected, notOurs, readText } from './foreign-response.ts'

/** The longest time that one request of the sign-in may take. */
const REQUEST_TIMEOUT_MS = 30_000
const SERVER_ERROR_MIN = 500

/** The addresses at which an authorization server lets people sign in, issues tokens and revokes them. */
export interface AuthorizationServer {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly registrationEndpoint: string
  readonly revocationEndpoint: string
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresAt: Date
  readonly scope: string
}

/** The token endpoint's refusal (RFC 6749, section 5.2). */
export class OauthRefusal extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(cleanLine(description))
    this.error = cleanLine(error)
  }
}

/**
 * Finds the authorization server of a service: the service's metadata names it (RFC 9728), and the authorization
 * server's metadata names the endpoints (RFC 8414). Each document must name the address at which it was found.
 * Otherwise a server could send the sign-in elsewhere.
 */
export async function discover(baseUrl: string): Promise<AuthorizationServer> {
  const resource = await getJson(`${baseUrl}/.well-known/oauth-protected-resource`)
  const named = resource['resource']
  if (typeof named !== 'string') throw notOurs(baseUrl)
  if (named !== baseUrl) {
    throw new CliError(`The service at ${baseUrl} calls itself ${cleanLine(named)}.`, {
      exitCode: EXIT.failure,
      code: 'address_mismatch',
      hint: 'Sign in with the address that the service uses for itself (its BASE_URL), if you trust it.',
      next: ['bursar', 'login', cleanLine(named)],
    })
  }
  const [issuer] = Array.isArray(resource['authorization_servers'])
    ? (resource['authorization_servers'] as unknown[])
    : []
  if (typeof issuer !== 'string') throw notOurs(baseUrl)
  checkTransport(issuer)
  const server = await getJson(`${issuer}/.well-known/oauth-authorization-server`)
  if (server['issuer'] !== issuer) throw notOurs(issuer)
  const endpoint = (name: string): string => {
    const url = server[name]
    if (typeof url !== 'string') throw notOurs(issuer)
    checkTransport(url)
    return url
  }
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    registrationEndpoint: endpoint('registration_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
  }
}

/** Registers this program as a client (RFC 7591), and returns its client id. */
export async function registerClient(server: AuthorizationServer, redirectUri: string): Promise<string> {
  const response = await request(server.registrationEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Bursar command line',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }),
  })
  const body = await readJson(response)
  if (!response.ok || typeof body['client_id'] !== 'string') throw refusalOf(response, body)
  return body['client_id']
}

/** Asks the token endpoint for tokens. Throws an `OauthRefusal` if it refuses. */
export async function requestTokens(tokenEndpoint: string, fields: Readonly<Record<string, string>>): Promise<Tokens> {
  // The lifetime is counted from before the request, so that the token never seems to live longer than it does.
  const askedAt = Date.now()
  const response = await postForm(tokenEndpoint, fields)
  const body = await readJson(response)
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = body
  if (!response.ok) throw refusalOf(response, body)
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string' || typeof seconds !== 'number') {
    throw new Error('the token endpoint sent no tokens')
  }
  const expiresAt = new Date(askedAt + seconds * 1_000)
  return { accessToken, refreshToken, expiresAt, scope: typeof scope === 'string' ? scope : '' }
}

/** Ends the connection that a refresh token belongs to (RFC 7009). */
export async function revokeToken(endpoint: string, { token, clientId }: { token: string; clientId: string }) {
  const response = await postForm(endpoint, { token, token_type_hint: 'refresh_token', client_id: clientId })
  if (!response.ok) throw refusalOf(response, await readJson(response))
}

/** Throws unless the address is https, or on this machine. A credential must never travel unencrypted. */
export function checkTransport(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol === 'https:') return
  if (parsed?.protocol === 'http:' && isLoopback(parsed.hostname)) return
  throw new CliError(
    `${cleanLine(url)} is not an https address. Without encryption, anybody could read the credential.`,
    {
      exitCode: EXIT.usage,
      code: 'https_required',
    },
  )
}

/** Returns whether the host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}

async function postForm(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  return await request(url, { method: 'POST', body: new URLSearchParams(fields) })
}

async function getJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await request(url, {})
  if (response.status >= SERVER_ERROR_MIN) {
    throw new CliError(`${new URL(url).origin} responded with the status ${response.status}.`, {
      exitCode: EXIT.failure,
      code: 'unavailable',
      hint: 'Try again later.',
    })
  }
  if (!response.ok) throw notOurs(url)
  return await readJson(response)
}

async function request(url: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    throw new CliError(`${new URL(url).origin} ${isLate ? 'did not respond in time' : 'cannot be reached'}.`, {
      exitCode: isLate ? EXIT.timeout : EXIT.failure,
      code: isLate ? 'timeout' : 'unreachable',
      hint: 'Check the address, and whether the service runs.',
      cause: error,
    })
  }
  checkNotRedirected(response, url)
  return response
}

async function readJson(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(response)
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function refusalOf(response: Response, body: Readonly<Record<string, unknown>>): OauthRefusal {
  const { error, error_description: description } = body
  return new OauthRefusal(
    typeof error === 'string' ? error : 'server_error',
    typeof description === 'string' ? description : `The server responded with the status ${response.status}.`,
  )
}
