import type { FastifyRequest } from 'fastify'
import { Problem } from '../values/problem.ts'

/** The two surfaces (D1): the REST host, and the host of the authorization server and the dashboard. They may be one. */
export interface Origins {
  readonly baseUrl: string
  readonly authUrl: string
}

/**
 * The configured origin that a request asked for. A `Host` header only chooses between the two that we have, and one that
 * names neither means the REST host: what we say of ourselves never comes of a header (D40a).
 */
export function originOf(request: FastifyRequest, { baseUrl, authUrl }: Origins): string {
  return hostOf(request) === new URL(authUrl).host ? authUrl : baseUrl
}

/**
 * The hook before whatever answers on the host of `AUTH_URL` alone: the dashboard, with its cookie, and the authorization
 * server. Under any other name that leads here there is no such path.
 */
export function onAuthHostOnly({ authUrl }: Pick<Origins, 'authUrl'>) {
  const authHost = new URL(authUrl).host

  return async function refuseOtherHosts(request: FastifyRequest): Promise<void> {
    if (hostOf(request) !== authHost) throw new Problem('not_found', `No such path here. It may be at ${authUrl}.`)
  }
}

/** As the URL would have it: lower case, without a default port. `X-Forwarded-Host` is anybody's, proxies pass it on. */
function hostOf({ headers, protocol }: FastifyRequest): string | null {
  const url = `${protocol}://${headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url).host : null
}
