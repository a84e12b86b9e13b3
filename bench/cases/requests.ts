import type { LoadOrder, LoadRequest } from '../load.ts'
import type { BenchTarget } from '../seed.ts'

export const CONNECTIONS = 50

export function get(path: string, target?: Pick<BenchTarget, 'key'>): LoadRequest {
  return { method: 'GET', path, headers: authorization(target) }
}

export function post(path: string, body: object, target?: Pick<BenchTarget, 'key'>): LoadRequest {
  const headers = { 'content-type': 'application/json', ...authorization(target) }
  return { method: 'POST', path, headers, body: JSON.stringify(body) }
}

export function postForm(path: string, form: Record<string, string>): LoadRequest {
  return { method: 'POST', path, headers: FORM, body: new URLSearchParams(form).toString() }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A `POST` of a form whose refresh token is the one of the response before. */
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

/** Sends these requests to all servers, which share the connections. */
export function shareOrders(
  urls: readonly string[],
  requests: readonly LoadRequest[],
  length: Pick<LoadOrder, 'seconds' | 'amount'>,
): LoadOrder[] {
  return urls.map((url, index) => ({
    url,
    connections: Math.ceil(CONNECTIONS / urls.length),
    requests: requests.filter((_, number) => number % urls.length === index),
    ...length,
  }))
}
