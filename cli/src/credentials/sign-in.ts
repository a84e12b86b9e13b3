import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../output/clean-text.ts'
import { stopSignal } from '../signals.ts'
import { openLoopbackServer, type Callback } from './loopback-server.ts'
import { discover, OauthRefusal, registerClient, requestTokens, type AuthorizationServer } from './oauth-calls.ts'
import type { Session } from './session.ts'

/** The service keeps an authorization request for 10 minutes, so there is nothing to wait for after that. */
const SIGN_IN_MS_MAX = 600_000
const SECRET_BYTES = 32

export interface SignInOptions {
  readonly baseUrl: string
  /** The scopes to request, separated by spaces. Null: all. */
  readonly scope: string | null
  /** The agent that the consent page suggests. */
  readonly agentId: string | null
  readonly timeoutMs?: number
  /** Shows the address to the person, and opens it in the browser. */
  readonly onUrl: (url: string) => void
  /** Returns the address at which the browser ended, if the person enters it. Otherwise never settles. */
  readonly onPaste: () => Promise<string>
}

/** Lets a person sign in and approve in the browser, and returns the session (OAuth 2.1 with PKCE, RFC 8252). */
export async function signIn(options: SignInOptions): Promise<Session> {
  const { baseUrl } = options
  try {
    const server = await discover(baseUrl)
    const { tokens, clientId } = await authorize(server, options)
    const { issuer, tokenEndpoint, revocationEndpoint } = server
    return { baseUrl, issuer, tokenEndpoint, revocationEndpoint, clientId, ...tokens }
  } catch (error) {
    if (!(error instanceof OauthRefusal)) throw error
    throw new CliError(`The sign-in failed: ${error.message}`, {
      exitCode: EXIT.signIn,
      code: error.error,
      next: ['bursar', 'login', baseUrl],
      cause: error,
    })
  }
}

async function authorize(server: AuthorizationServer, options: SignInOptions) {
  const state = randomBytes(SECRET_BYTES).toString('base64url')
  const verifier = randomBytes(SECRET_BYTES).toString('base64url')
  const read = (parameters: URLSearchParams): Callback | null =>
    readCallback(parameters, { state, issuer: server.issuer })
  const loopback = await openLoopbackServer(read)
  try {
    const { redirectUri } = loopback
    const clientId = await registerClient(server, redirectUri)
    options.onUrl(authorizeUrl(server, { ...options, clientId, redirectUri, state, verifier }))
    const callback = await waitForCallback(loopback.callback, read, options)
    if (callback.kind === 'error') throw new OauthRefusal(callback.error, describeRefusal(callback))
    const fields = {
      grant_type: 'authorization_code',
      code: callback.code,
      code_verifier: verifier,
      client_id: clientId,
      redirect_uri: redirectUri,
      resource: options.baseUrl,
    }
    return { clientId, tokens: await requestTokens(server.tokenEndpoint, fields) }
  } finally {
    await loopback.close()
  }
}

function authorizeUrl(
  { authorizationEndpoint }: AuthorizationServer,
  asked: Pick<SignInOptions, 'baseUrl' | 'scope' | 'agentId'> & {
    readonly clientId: string
    readonly redirectUri: string
    readonly state: string
    readonly verifier: string
  },
): string {
  const url = new URL(authorizationEndpoint)
  const fields = {
    response_type: 'code',
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    code_challenge: createHash('sha256').update(asked.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: asked.state,
    resource: asked.baseUrl,
    ...(asked.scope === null ? {} : { scope: asked.scope }),
    ...(asked.agentId === null ? {} : { agent_id: asked.agentId }),
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}

/**
 * Reads an authorization response. It must have the state of this sign-in and the issuer that was asked (RFC 9207),
 * each exactly once. Otherwise, somebody else made it, and the result is null.
 */
export function readCallback(
  parameters: URLSearchParams,
  expected: { readonly state: string; readonly issuer: string },
): Callback | null {
  const one = (name: string): string | null => {
    const values = parameters.getAll(name)
    return values.length === 1 ? (values[0] ?? null) : null
  }
  const [state, issuer, code, error] = [one('state'), one('iss'), one('code'), one('error')]
  if (state === null || !isEqual(state, expected.state) || issuer !== expected.issuer) return null
  if (error !== null) return { kind: 'error', error, description: one('error_description') ?? '' }
  return code === null ? null : { kind: 'code', code }
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function waitForCallback(
  callback: Promise<Callback>,
  read: (parameters: URLSearchParams) => Callback | null,
  { onPaste, timeoutMs = SIGN_IN_MS_MAX, baseUrl }: SignInOptions,
): Promise<Callback> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const error = new CliError('Nobody approved the sign-in in time.', {
      exitCode: EXIT.timeout,
      code: 'timeout',
      next: ['bursar', 'login', baseUrl],
    })
    timer = setTimeout(() => reject(error), timeoutMs)
  })
  const stopped = new Promise<never>((_resolve, reject) => {
    stopSignal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
  const pasted = onPaste().then((text) => {
    const found = URL.canParse(text) ? read(new URL(text).searchParams) : null
    if (found !== null) return found
    throw new CliError('This is not the address of this sign-in.', { exitCode: EXIT.failure, code: 'address_wrong' })
  })
  try {
    return await Promise.race([callback, pasted, late, stopped])
  } finally {
    clearTimeout(timer)
  }
}

function describeRefusal({ error, description }: { readonly error: string; readonly description: string }): string {
  if (error === 'access_denied') return 'access was denied on the consent page.'
  return cleanLine(description === '' ? error : description)
}
