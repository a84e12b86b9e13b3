import { isUnattended } from './presence.ts'
import { parseApiError, unreachable } from './api-error.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface SendOptions {
  readonly body?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

const REQUEST_TIMEOUT_MS = 30_000

/** One request and its answer. The cookie goes along by itself; nothing is followed or kept. */
export async function send<T>(method: Method, path: string, { body, signal }: SendOptions = {}): Promise<T> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(isUnattended() ? { 'service-unattended': '1' } : {}),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    cache: 'no-store',
    redirect: 'error',
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw unreachable()
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok || answer === undefined) throw parseApiError(response.status, answer)
  // The server's own tests hold it to the shapes of wire.ts; both are built and shipped together.
  return answer as T
}
