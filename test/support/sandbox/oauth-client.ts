import { createHash, randomBytes } from 'node:crypto'
import { fetchOnce } from '../../../sandbox/src/lib/fetch-once.ts'
import type { AgentHost } from './agent-host.ts'
import { send, type Answer } from '../http-client.ts'

/** The values of one authorization that its client must remember. */
export interface Authorization {
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly state: string
  readonly url: URL
}

export interface TokenAnswer {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly error?: string
}

const LOOPBACK_REDIRECT = 'http://127.0.0.1/callback'

/** Registers a client, and returns its id. */
export async function registerClient(
  { authUrl }: Pick<AgentHost, 'authUrl'>,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const response = await fetchOnce(new URL('/oauth/register', authUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test client', redirect_uris: [LOOPBACK_REDIRECT], ...metadata }),
  })
  const body = (await response.json()) as { client_id: string }
  if (response.status !== 201) throw new Error(JSON.stringify(body))
  return body.client_id
}

/** Makes an authorization URL with all required parameters. `change` replaces parameters. */
export function startAuthorization(
  { authUrl }: Pick<AgentHost, 'authUrl'>,
  clientId: string,
  change: Readonly<Record<string, string>> = {},
): Authorization {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const redirectUri = change['redirect_uri'] ?? LOOPBACK_REDIRECT
  const url = new URL('/oauth/authorize', authUrl)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'wallet:read wallet:transfer',
    state,
    ...change,
  }).toString()
  return { clientId, redirectUri, verifier, state, url }
}

/**
 * The authorization server's address. `processUrl` is the address of one of its processes, if that process should get
 * the request.
 */
export interface OauthServer {
  readonly authUrl: string
  readonly processUrl?: string
}

export async function exchangeCode(
  host: OauthServer,
  { clientId, redirectUri, verifier }: Authorization,
  code: string,
): Promise<TokenAnswer> {
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
  return await askForTokens(host, { ...form, client_id: clientId })
}

export async function refreshTokens(host: OauthServer, clientId: string, refreshToken: string): Promise<TokenAnswer> {
  return await askForTokens(host, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId })
}

/** Creates a connection: registers a client, authorizes it, consents, and exchanges the code. Returns its tokens. */
export async function connect(host: AgentHost, change: Readonly<Record<string, string>> = {}) {
  const clientId = await registerClient(host)
  const authorization = startAuthorization(host, clientId, change)
  const callback = await host.consent(authorization.url)
  const code = String(callback.searchParams.get('code'))
  return { ...authorization, code, tokens: await exchangeCode(host, authorization, code) }
}

async function askForTokens(server: OauthServer, form: Record<string, string>): Promise<TokenAnswer> {
  return JSON.parse((await postForm(server, '/oauth/token', form)).text) as TokenAnswer
}

/**
 * Posts a form as a client does. Its `Host` header always names the authorization server, even if another process
 * receives the request.
 */
export async function postForm(
  { authUrl, processUrl = authUrl }: OauthServer,
  path: string,
  form: Record<string, string>,
): Promise<Answer> {
  const body = new URLSearchParams(form).toString()
  return await send(processUrl, { path, body, type: 'application/x-www-form-urlencoded', host: new URL(authUrl).host })
}
