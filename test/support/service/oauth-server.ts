import assert from 'node:assert/strict'
import { hash, randomBytes, randomInt } from 'node:crypto'
import type { Config } from '../../../server/src/config.ts'
import type { Answer, Call } from '../http-client.ts'
import { seedOwner, type Person } from '../context/people.ts'
import { seed, type Seed } from '../context/seed.ts'
import { openTestService, type TestService } from './test-service.ts'

export const FORM_TYPE = 'application/x-www-form-urlencoded'
export const REDIRECT_URI = 'http://127.0.0.1:33418/callback'
/** The service's public address in the tests' configuration. In fact, it listens on another address. */
export const BASE_URL = 'http://localhost:4100'
export const AUTH_URL = 'http://localhost:4101'

/** Changes to parameters. A list repeats a parameter with several values, and null leaves the parameter out. */
export type Changes = Readonly<Record<string, string | readonly string[] | null>>

export interface OauthCall extends Call {
  /**
   * The IP address from which the request seems to come. By default, each request has a new one, so no rate limit is
   * reached.
   */
  readonly address?: string
  /** The person whose browser sends the request. */
  readonly person?: Pick<Person, 'secret'>
}

export interface RegisteredClient {
  readonly client_id: string
  readonly client_id_issued_at: number
  readonly client_name: string
  readonly redirect_uris: readonly string[]
  readonly scope: string
}

export interface WireTokens {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

/** A code that a person has just approved, with the values that it is bound to. */
export interface ApprovedCode {
  readonly client: RegisteredClient
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

export interface OauthServer extends TestService {
  readonly seeded: Seed
  /** The owner of the seeded workspace. */
  readonly owner: Person
  ask(call: OauthCall): Promise<Answer>
  /** Posts a form. */
  post(path: string, fields: Changes | string, call?: Partial<OauthCall>): Promise<Answer>
  register(metadata?: Readonly<Record<string, unknown>>): Promise<RegisteredClient>
  /** Sends an authorization request. It has all required parameters, with the given changes. */
  authorize(client: RegisteredClient, changes?: Changes, call?: Partial<OauthCall>): Promise<Answer>
  /** Opens an authorization request, and returns its handle. The request then waits for the owner's decision. */
  openRequest(client: RegisteredClient, changes?: Changes): Promise<string>
  /** Approves a request as the owner would in the browser, with the given changes to the form. */
  consent(handle: string, changes?: Changes, call?: Partial<OauthCall>): Promise<Answer>
  approveCode(client?: RegisteredClient, changes?: Changes): Promise<ApprovedCode>
  exchange(approved: ApprovedCode, changes?: Changes, call?: Partial<OauthCall>): Promise<Answer>
  obtainTokens(client?: RegisteredClient, changes?: Changes): Promise<WireTokens & ApprovedCode>
  refresh(tokens: Pick<WireTokens & ApprovedCode, 'client' | 'refresh_token'>, changes?: Changes): Promise<Answer>
}

/** Opens a test service behind a proxy. It has a workspace with an owner. */
export async function openOauthServer(
  change: (config: Config) => Config | Promise<Config> = (config) => config,
): Promise<OauthServer> {
  const given = await openTestService((config) => change({ ...config, trustedProxies: ['127.0.0.1'] }))
  const seeded = await seed(given.context)
  const owner = await seedOwner(given.context, seeded.workspace)

  const ask: OauthServer['ask'] = ({ address = randomAddress(), person, headers = [], ...call }) => {
    const cookie = person === undefined ? [] : ['cookie', `session=${person.secret}`]
    return given.call({ ...call, headers: [...headers, ...cookie, 'x-forwarded-for', address] })
  }
  const post: OauthServer['post'] = (path, fields, call = {}) =>
    ask({ path, type: FORM_TYPE, body: typeof fields === 'string' ? fields : formatFields(fields), ...call })
  const register: OauthServer['register'] = async (metadata = {}) => {
    const body = { client_name: 'Test client', redirect_uris: [REDIRECT_URI], ...metadata }
    const answer = await ask({ path: '/oauth/register', body })
    assert.equal(answer.status, 201, answer.text)
    return JSON.parse(answer.text) as RegisteredClient
  }
  const authorize: OauthServer['authorize'] = (client, changes = {}, call = {}) =>
    ask({ path: `/oauth/authorize?${formatFields({ ...authorizationRequest(client), ...changes })}`, ...call })
  const openRequest: OauthServer['openRequest'] = async (client, changes = {}) =>
    handleOf(await authorize(client, changes))
  const consent: OauthServer['consent'] = (handle, changes = {}, call = {}) => {
    const fields = {
      request: handle,
      decision: 'approve',
      workspace: seeded.workspace.slug,
      mode: seeded.mode,
      agent_id: seeded.agentId,
    }
    return post('/oauth/consent', { ...fields, ...changes }, { person: owner, headers: SAME_ORIGIN, ...call })
  }
  const approveCode: OauthServer['approveCode'] = async (client, changes = {}) => {
    const registered = client ?? (await register())
    const verifier = randomBytes(32).toString('base64url')
    const request = {
      redirect_uri: registered.redirect_uris[0] ?? '',
      code_challenge: challengeOf(verifier),
      ...changes,
    }
    const answer = await consent(await openRequest(registered, request))
    const code = new URL(locationOf(answer, 303)).searchParams.get('code')
    assert.ok(code !== null)
    return { client: registered, code, verifier, redirectUri: request.redirect_uri }
  }
  const exchange: OauthServer['exchange'] = ({ client, code, verifier, redirectUri }, changes = {}, call = {}) => {
    const proof = { code, code_verifier: verifier, client_id: client.client_id, redirect_uri: redirectUri }
    return post('/oauth/token', { grant_type: 'authorization_code', ...proof, ...changes }, call)
  }
  return {
    ...given,
    seeded,
    owner,
    ask,
    post,
    register,
    authorize,
    openRequest,
    consent,
    approveCode,
    exchange,
    async obtainTokens(client, changes) {
      const approved = await approveCode(client, changes)
      return { ...approved, ...readTokens(await exchange(approved)) }
    },
    refresh({ client, refresh_token }, changes = {}) {
      const fields = { grant_type: 'refresh_token', refresh_token, client_id: client.client_id }
      return post('/oauth/token', { ...fields, ...changes })
    },
  }
}

export const SAME_ORIGIN: readonly string[] = ['origin', AUTH_URL, 'sec-fetch-site', 'same-origin']
/** The code challenge from the example in RFC 7636, appendix B. */
export const CODE_CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** Builds a complete authorization request. */
export function authorizationRequest({ client_id, redirect_uris }: RegisteredClient) {
  return {
    response_type: 'code',
    client_id,
    redirect_uri: redirect_uris[0] ?? '',
    code_challenge: CODE_CHALLENGE,
    code_challenge_method: 'S256',
    scope: 'wallet:read',
    state: 'state-1',
  }
}

export function formatFields(fields: Changes): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) form.append(name, one)
  }
  return form.toString()
}

export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}

export function locationOf(answer: Answer, status: number): string {
  assert.equal(answer.status, status, answer.text)
  return String(answer.headers.location)
}

/** Returns the handle of the request from the address of the consent page. */
export function handleOf(answer: Answer): string {
  const location = locationOf(answer, 302)
  assert.match(location, /^http:\/\/localhost:4101\/consent\?request=svc_oar_[0-9A-Za-z]{49}$/)
  return String(new URL(location).searchParams.get('request'))
}

export function readTokens(answer: Answer): WireTokens {
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as WireTokens
}

/** Checks what is the same in all errors of the JSON endpoints (D35). Returns the error's description. */
export function expectOauthError(
  answer: Answer,
  error: string,
  status = error === 'invalid_client' ? 401 : 400,
): string {
  const body = JSON.parse(answer.text) as { error: string; error_description: string }
  assert.deepEqual([answer.status, body.error], [status, error], answer.text)
  assert.deepEqual(Object.keys(body), ['error', 'error_description'])
  assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]{10,1000}$/)
  assert.match(String(answer.headers['content-type']), /^application\/json\b/)
  assert.equal(answer.headers['cache-control'], 'no-store')
  if (status !== 401) assert.equal(answer.headers['www-authenticate'], undefined)
  return body.error_description
}

/** Checks that a response is an error page, that it cannot be framed, and that it does not redirect the browser. */
export function expectPage(answer: Answer, { status = 400, error, parameter }: ExpectedPage): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(answer.headers.location, undefined)
  assert.equal(answer.headers['x-frame-options'], 'DENY')
  assert.match(String(answer.headers['content-security-policy']), /frame-ancestors 'none'/)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
  assert.doesNotMatch(answer.text, /<script|style=|http-equiv|<form|href="http/)
  assert.ok(answer.text.includes(`<dd>${error}</dd>`), answer.text)
  if (parameter !== undefined) assert.ok(answer.text.includes(`<dd>${parameter}</dd>`), answer.text)
}

interface ExpectedPage {
  readonly status?: number
  readonly error: string
  readonly parameter?: string | undefined
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`
}
