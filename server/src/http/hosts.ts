import type { FastifyRequest } from 'fastify'
import { Problem } from '../values/problem.ts'

/**
 * The two origins of the service: the REST API's, and the authorization server's and dashboard's. They can be equal
 * (D1).
 */
export interface Origins {
  readonly baseUrl: string
  readonly authUrl: string
}

/**
 * Returns the configured origin that a request was sent to. The `Host` header only chooses between our two origins; any
 * other value means the REST API's. The addresses that we publish are never taken from a header (D40a).
 */
export function originOf(request: FastifyRequest, { baseUrl, authUrl }: Origins): string {
  return hostOf(request) === new URL(authUrl).host ? authUrl : baseUrl
}

/**
 * Makes the hook for everything that is served on the host of `AUTH_URL` only: the dashboard, with its cookie, and the
 * authorization server. On any other host these paths do not exist.
 */
export function onAuthHostOnly({ authUrl }: Pick<Origins, 'authUrl'>) {
  const authHost = new URL(authUrl).host

  return async function refuseOtherHosts(request: FastifyRequest): Promise<void> {
    if (hostOf(request) !== authHost)
      throw new Problem('not_found', `There is no endpoint at this path on this host. Try ${authUrl}.`)
  }
}

/**
 * Returns the host as a URL has it: lower case, without a default port. `X-Forwarded-Host` is ignored, because any
 * client can send it.
 */
function hostOf({ headers, protocol }: FastifyRequest): string | null {
  const url = `${protocol}://${headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url).host : null
}
