import { Agents } from './agents.ts'
import { Events } from './events.ts'
import { Ledger } from './ledger.ts'
import { fetchPaid, type FetchOptions, type PaidResponse } from './paid-fetch.ts'
import { Payments } from './payments.ts'
import { withMembers } from './read-body.ts'
import { createResult, type Result } from './result.ts'
import { REAL_RUNTIME, type Runtime } from './runtime.ts'
import { isCredential, send, type CallOptions, type Connection, type GetToken } from './send.ts'
import type { Identity } from './types.ts'
import { Wallets } from './wallets.ts'
import { X402 } from './x402.ts'

interface CommonOptions {
  /**
   * The address of your Bursar, such as `https://bursar.example.com`. It has no default. It must be https, because the
   * credential would travel unencrypted otherwise. Only an address of this machine, such as `http://localhost:4100`, may
   * be http.
   */
  readonly baseUrl: string
  /** Replaces the global `fetch`, the clock, the timers or the random numbers. It is meant for tests. */
  readonly runtime?: Partial<Runtime>
}

/** How to reach the service, and with which credential: an API key, or a function that returns an access token. */
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
 * const bursar = new Bursar({ baseUrl: 'https://bursar.example.com', apiKey: 'svc_test_YOUR_KEY' })
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

  /**
   * Fetches a resource as `fetch` does. If the resource asks for a payment (x402 version 1 and 2, MPP), pays at most
   * `maxAmountUsdc` (decimal USDC), within the limits of the agent's grant. The service sends the request, so the
   * service sees the whole request. A resource that asks for nothing is returned as it is.
   *
   * One call pays at most once. All calls with the same `purchaseId` together also pay at most once.
   * `response.purchase` has the payment and the purchase id. As with `fetch`, a response with a status such as 404 or
   * 500 is returned and not thrown. If it was paid for, `purchase.delivery` is `failed`.
   *
   * The URL must be public and use HTTPS. The whole request has at most 64 KiB. Headers about cookies, the connection
   * or payments are not sent. The body of the response has at most 1 MiB: reading a longer body fails after the first
   * MiB.
   *
   * Errors: as for `x402.pay`. `PurchaseUnansweredError` if the seller's response is not known. `TypeError` if it is
   * not clear which agent or wallet pays.
   *
   * @example
   * ```ts
   * const response = await bursar.fetch('https://api.example.com/report', {}, { maxAmountUsdc: '0.05' })
   * log(await response.text(), response.purchase.payment?.amount_usdc ?? 'free')
   * ```
   */
  fetch(input: string | URL | Request, init: RequestInit | undefined, options: FetchOptions): Promise<PaidResponse> {
    // The `Request` of the platform normalizes the method, the headers and every kind of body.
    return fetchPaid({ x402: this.x402, me: () => this.me() }, new Request(input, init), options)
  }
}

function openConnection({ baseUrl, apiKey, getToken, runtime }: BursarOptions): Connection {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new TypeError('baseUrl must be an https address. Only an address of this machine may be http.')
  }
  if (apiKey === undefined && getToken === undefined) throw new TypeError('apiKey or getToken is required.')
  if (apiKey !== undefined && !isCredential(apiKey))
    throw new TypeError('apiKey is empty, or contains characters that no key has.')
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    getToken: getToken ?? (() => apiKey),
    isRefreshable: getToken !== undefined,
    runtime: { ...REAL_RUNTIME, ...runtime },
  }
}

/** Returns whether the host is this machine itself. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}
