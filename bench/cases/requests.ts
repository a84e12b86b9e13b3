import type { LoadOrder, LoadRequest } from '../load.ts'
import type { BenchTarget } from '../seed.ts'
import { AUTH_HOST, type Endpoint } from '../world.ts'

const CONNECTIONS = 50

/**
 * How long a round is. A load that must not lose its last responses ends after `amount` requests, not after `seconds`.
 */
export interface Length extends Pick<LoadOrder, 'seconds' | 'amount'> {
  /** The number of connections; 50 by default. */
  readonly connections?: number
}

export function get(path: string, target?: Pick<BenchTarget, 'key'>): LoadRequest {
  return { method: 'GET', path, headers: authorization(target) }
}

function post(path: string, body: object, target?: Pick<BenchTarget, 'key'>): LoadRequest {
  const headers = { 'content-type': 'application/json', ...authorization(target) }
  return { method: 'POST', path, headers, body: JSON.stringify(body) }
}

export function postForm(path: string, form: Record<string, string>): LoadRequest {
  return { method: 'POST', path, headers: FORM, body: new URLSearchParams(form).toString() }
}

/** The server has its OAuth endpoints only on the host of `AUTH_URL`, so a request with a form names this host. */
const FORM = { 'content-type': 'application/x-www-form-urlencoded', host: AUTH_HOST }

/** A `POST` of a form. Each request sends the refresh token of the previous response. */
export function postRotating(path: string, form: Record<string, string>, first: string): LoadRequest {
  return { method: 'POST', path, headers: FORM, body: '', rotate: { form, first } }
}

function authorization(target: Pick<BenchTarget, 'key'> | undefined): Record<string, string> {
  return target === undefined ? {} : { authorization: `Bearer ${target.key}` }
}

const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export function postPayment(target: BenchTarget): LoadRequest {
  const { agentId, wallet } = target
  return post('/v1/payments', { agent_id: agentId, wallet, to: RECIPIENT, amount_usdc: '0.000001' }, target)
}

/** Divides the requests and the connections among the servers: one order for each server. */
export function shareOrders(
  endpoints: readonly Endpoint[],
  requests: readonly LoadRequest[],
  { connections = CONNECTIONS, ...length }: Length,
): LoadOrder[] {
  return endpoints.map(({ url }, index) => ({
    url,
    connections: Math.ceil(connections / endpoints.length),
    requests: requests.filter((_, number) => number % endpoints.length === index),
    ...length,
  }))
}
