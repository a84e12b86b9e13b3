import { Agents } from './agents.ts'
import { Events } from './events.ts'
import { Ledger } from './ledger.ts'
import { Payments } from './payments.ts'
import { withMembers } from './read-body.ts'
import { createResult, type Result } from './result.ts'
import { REAL_RUNTIME, type Runtime } from './runtime.ts'
import { send, type CallOptions, type Connection, type GetToken } from './send.ts'
import type { Identity } from './types.ts'
import { Wallets } from './wallets.ts'
import { X402 } from './x402.ts'

interface CommonOptions {
  /** The address of your Bursar, such as `https://bursar.example.com`. It has no default. */
  readonly baseUrl: string
  /** Replaces the global `fetch`, the clock, the timers or the random numbers. It is meant for tests. */
  readonly runtime?: Partial<Runtime>
}

/** How to reach the service, and with which credential: either an API key or a function that returns an access token. */
export type BursarOptions =
  | (CommonOptions & { readonly apiKey: string; readonly getToken?: never })
  | (CommonOptions & { readonly getToken: GetToken; readonly apiKey?: never })

/**
 * A client of the Bursar API. One client can be used for the whole life of a program, and by many calls at once.
 *
 * Every call is retried after a lost connection, a timeout, a 429 or a 5xx, with growing waits. A call that pays never
 * pays twice. Pass an API key, or `getToken`, which returns an OAuth access token for each request. If the service
 * rejects the token, `getToken` is called once more with `isRejected: true`.
 *
 * @example
 * ```ts
 * const bursar = new Bursar({ baseUrl: 'https://bursar.example.com', apiKey: 'svc_test_…' })
 * const { agent_id, wallets } = await bursar.me()
 * log(agent_id, wallets.length)
 * ```
 */
export class Bursar {
  readonly payments: Payments
  readonly agents: Agents
  readonly wallets: Wallets
  readonly ledger: Ledger
  readonly events: Events
  readonly x402: X402
  readonly #connection: Connection

  constructor(options: BursarOptions) {
    const connection = openConnection(options)
    this.#connection = connection
    this.payments = new Payments(connection)
    this.agents = new Agents(connection)
    this.wallets = new Wallets(connection)
    this.ledger = new Ledger(connection)
    this.events = new Events(connection)
    this.x402 = new X402(connection)
  }

  /**
   * Returns who the caller is: the workspace, the mode (`test` or `live`), the scopes, and the agent and wallets of the
   * credential. The limits of the wallets are decimal USDC.
   *
   * @example
   * ```ts
   * const { mode, scopes } = await bursar.me()
   * log(mode, scopes)
   * ```
   */
  me(options?: CallOptions): Result<Identity> {
    const read = withMembers<Identity>({ account_slug: 'string', wallets: 'array' })
    const sent = send(this.#connection, { method: 'GET', path: '/v1/me', read }, options)
    return createResult(sent, (identity) => identity)
  }
}

function openConnection({ baseUrl, apiKey, getToken, runtime }: BursarOptions): Connection {
  const { protocol } = new URL(baseUrl)
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('baseUrl must be an http or https address.')
  if (apiKey === undefined && getToken === undefined) throw new TypeError('apiKey or getToken is required.')
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    getToken: getToken ?? (() => apiKey),
    isRefreshable: getToken !== undefined,
    runtime: { ...REAL_RUNTIME, ...runtime },
  }
}
