import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'

/** A request that the fake service has received. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Responds to a request. Returns a body, which is sent with the status 200, or sends the response itself. */
export type Handler = (request: SeenRequest, response: ServerResponse) => object | void

export interface FakeService extends FakeServer {
  readonly seen: readonly SeenRequest[]
  /** The responses by method and path, such as `GET /v1/me`. They may be replaced at any time. */
  readonly routes: Map<string, Handler>
  /** The access tokens that work now. */
  readonly tokens: Set<string>
  /** How many times a refresh token was used, and whether one was used twice, which ends the session (D38). */
  readonly refreshes: { count: number; isEnded: boolean }
  /** Makes the response to the next refreshes wait until the returned function is called. */
  holdRefreshes(): () => void
  /** Adds tokens that work, as after a sign-in. */
  issueTokens(): IssuedTokens
}

export interface IssuedTokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly scope: string
}

export const KEY = 'svc_test_key'
export const WALLET = '0x7bB070e960c82e2FB0e782A86b9894Eee860d9Af'
export const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
export const ME = {
  auth_type: 'api_key',
  account_slug: 'demo',
  account_name: 'Demo',
  mode: 'test',
  scopes: ['wallet:read', 'wallet:transfer', 'x402:pay'],
  agent_id: 'robot',
  expires_at: null,
  server_time: '2026-11-23T02:00:00.000Z',
  wallets: [{ address: WALLET, max_per_tx_usdc: '10', daily_cap_usdc: '100' }],
}

/**
 * Starts a service that knows one API key, and the tokens that it has issued. Tests add the responses that they need.
 */
export async function startFakeService(): Promise<FakeService> {
  const seen: SeenRequest[] = []
  const tokens = new Set<string>([KEY])
  const refreshTokens = new Set<string>()
  const usedTokens = new Set<string>()
  const refreshes = { count: 0, isEnded: false }
  let held: Promise<void> | null = null
  const issueTokens = (): IssuedTokens => {
    const issued = {
      access_token: `svc_oat_${randomBytes(8).toString('hex')}`,
      refresh_token: `svc_ort_${randomBytes(8).toString('hex')}`,
    }
    tokens.add(issued.access_token)
    refreshTokens.add(issued.refresh_token)
    return { ...issued, token_type: 'Bearer', expires_in: 3_600, scope: 'wallet:read wallet:transfer' }
  }
  const refresh = ({ body }: SeenRequest, response: ServerResponse): void => {
    const token = new URLSearchParams(body).get('refresh_token') ?? ''
    refreshes.count += 1
    if (usedTokens.has(token)) {
      // As the real service does: a second use ends the session.
      refreshes.isEnded = true
      tokens.clear()
    }
    const isGood = refreshTokens.delete(token) && !refreshes.isEnded
    usedTokens.add(token)
    const send = (): void =>
      isGood
        ? answerJson(response, issueTokens())
        : answerJson(response, { error: 'invalid_grant', error_description: 'The token is not valid.' }, 400)
    if (held === null) send()
    else void held.then(send)
  }
  const routes = new Map<string, Handler>([
    ['GET /v1/me', () => ME],
    ['GET /readyz', () => ({ status: 'ok', checks: { database: 'ok', enclave: 'ok' } })],
    ['POST /oauth/token', refresh],
  ])
  const server = await startFakeServer((request, body, response) => {
    const { method = '', url = '', headers } = request
    const one = { method, path: url, headers, authorization: headers.authorization, body }
    seen.push(one)
    const [path = ''] = url.split('?')
    if (path.startsWith('/v1') && !tokens.has(headers.authorization?.replace('Bearer ', '') ?? '')) {
      return answerError(response, 401, { type: 'unauthenticated', message: 'The credential is not valid.' })
    }
    const handler = routes.get(`${method} ${path}`)
    if (handler === undefined)
      return answerError(response, 404, { type: 'not_found', message: 'There is nothing here.' })
    const answer = handler(one, response)
    if (answer !== undefined) answerJson(response, answer)
  })
  return {
    ...server,
    seen,
    routes,
    tokens,
    refreshes,
    issueTokens,
    holdRefreshes: () => {
      let release = (): void => undefined
      held = new Promise((resolve) => {
        release = resolve
      })
      return () => {
        held = null
        release()
      }
    },
  }
}

/** Sends an error as the service does. */
export function answerError(response: ServerResponse, status: number, error: object): void {
  response.setHeader('request-id', 'req_01TEST')
  answerJson(response, { error }, status)
}

/** A payment as the service sends it. */
export function paymentOf(change: object = {}): Record<string, unknown> {
  return {
    id: 'pay_1',
    kind: 'transfer',
    agent_id: 'robot',
    grant_id: 'grt_1',
    status: 'pending',
    failure_code: null,
    tx_hash: null,
    amount_usdc: '1.25',
    to: RECIPIENT,
    from: WALLET,
    memo: null,
    idempotency_key: 'k1',
    created_at: '2026-11-23T01:00:00.000Z',
    confirmed_at: null,
    ...change,
  }
}
