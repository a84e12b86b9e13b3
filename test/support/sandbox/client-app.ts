import assert from 'node:assert/strict'
import type { AgentHost } from './agent-host.ts'
import { call } from '../http-client.ts'
import {
  exchangeCode,
  registerClient,
  startAuthorization,
  type Authorization,
  type TokenAnswer,
} from './oauth-client.ts'
import { answerPage, formatPage, startSite } from '../browser/site.ts'

/**
 * An application that waits for the authorization response. It runs either on a loopback port, like a program on a
 * person's computer, or on the web.
 */
export interface ClientApp {
  readonly origin: string
  /** The requests to the application's redirect URI, in order. */
  readonly callbacks: readonly URL[]
  /** The `Referer` header of each of these requests, in the same order. */
  readonly referrers: readonly (string | undefined)[]
  /** Starts an authorization. Its redirect URI contains the application's port. */
  start(change?: Readonly<Record<string, string>>): Authorization
  close(): Promise<void>
}

interface ClientAppOptions {
  readonly name?: string
  /**
   * A host name under `.example`, at which the application is served over HTTPS. Without it, the application is served
   * on loopback.
   */
  readonly host?: string
  /** An address to which the application redirects the browser after it has received the response. */
  readonly sendsOnTo?: string
}

export const CALLBACK_TITLE = 'The application has its answer'
const CALLBACK_PATH = '/callback'

export async function startClientApp(
  authorizationServer: Pick<AgentHost, 'authUrl'>,
  { name = 'Test client', host, sendsOnTo }: ClientAppOptions = {},
): Promise<ClientApp> {
  const callbacks: URL[] = []
  const referrers: (string | undefined)[] = []
  const site = await startSite(
    ({ url = '/', headers: { referer } }, response) => {
      const asked = new URL(url, site.origin)
      // Browsers also request an icon. Such a request contains no authorization response.
      if (asked.pathname !== CALLBACK_PATH) {
        response.writeHead(404).end()
        return
      }
      callbacks.push(asked)
      referrers.push(referer)
      if (sendsOnTo === undefined) answerPage(response, formatPage(CALLBACK_TITLE))
      else response.writeHead(302, { location: sendsOnTo }).end()
    },
    host === undefined ? {} : { host, isSecure: true },
  )
  try {
    const redirectUri = `${site.origin}${CALLBACK_PATH}`
    // On loopback, the redirect URI is registered without its port (RFC 8252, section 7.3).
    const registered = host === undefined ? `http://127.0.0.1${CALLBACK_PATH}` : redirectUri
    const metadata = { client_name: name, redirect_uris: [registered] }
    const clientId = await registerClient(authorizationServer, metadata)
    return {
      origin: site.origin,
      callbacks,
      referrers,
      start: (change = {}) =>
        startAuthorization(authorizationServer, clientId, { redirect_uri: redirectUri, ...change }),
      close: () => site.close(),
    }
  } catch (error) {
    await site.close()
    throw error
  }
}

/**
 * Returns the code in an authorization response. Checks that the response contains exactly the code, this
 * authorization's state and our issuer, each once.
 */
export function readCode({ authUrl }: Pick<AgentHost, 'authUrl'>, { state }: Authorization, callback: URL): string {
  const { code = '', ...rest } = Object.fromEntries(callback.searchParams)
  assert.deepEqual(rest, { state, iss: authUrl })
  assert.equal([...callback.searchParams].length, 3)
  assert.match(code, /^\S{20,}$/)
  return code
}

interface Identity {
  readonly account_slug: string
  readonly mode: string
  readonly agent_id: string
  readonly scopes: readonly string[]
}

/**
 * Exchanges the code in an authorization response, and then uses the token to read which workspace and agent it belongs
 * to.
 */
export async function connectWith(
  host: AgentHost,
  authorization: Authorization,
  callback: URL,
): Promise<{ tokens: TokenAnswer; me: Identity }> {
  const tokens = await exchangeCode(host, authorization, readCode(host, authorization, callback))
  const answer = await call(host.baseUrl, 'GET', '/v1/me', { key: tokens.access_token })
  assert.equal(answer.status, 200, answer.text)
  return { tokens, me: JSON.parse(answer.text) as Identity }
}
