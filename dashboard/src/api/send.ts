import type { Input, Output, RouteName } from '@bursar/server/src/console/contract/all-routes.ts'
import { parseApiError, unreachable } from './api-error.ts'
import { buildPath } from './build-path.ts'
import { isUnattended } from './presence.ts'

/** The input of an endpoint, and a signal that aborts the request. */
export type SendOptions<Name extends RouteName> = Input<Name> & Abortable

interface Abortable {
  readonly signal?: AbortSignal
}

interface AnyInput extends Abortable {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: object
}

const REQUEST_TIMEOUT_MS = 30_000

/**
 * Sends one request to our server and returns the response. The browser adds the session cookie. Redirects are not
 * followed, and nothing is cached.
 *
 * The response is not validated. Its type comes from the schema with which the server writes it, and the server and the
 * dashboard are built and shipped together.
 *
 * @throws ApiError
 */
export async function send<Name extends RouteName>(name: Name, options: SendOptions<Name>): Promise<Output<Name>>
export async function send(name: string, options: AnyInput): Promise<unknown> {
  const [method = '', url = ''] = name.split(' ')
  const { body, signal } = options
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const response = await fetch(buildPath(url, options), {
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
  const payload: unknown = await response.json().catch(() => undefined)
  if (!response.ok || payload === undefined)
    throw parseApiError(response.status, payload, response.headers.get('retry-after'))
  return payload
}
