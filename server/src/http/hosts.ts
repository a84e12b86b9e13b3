import { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../values/problem.ts'

/**
 * The two origins of the service. `baseUrl` is that of the REST API. `authUrl` is that of the authorization server and
 * the dashboard. They can be equal (D1).
 */
export interface Origins {
  readonly baseUrl: string
  readonly authUrl: string
}

/** Where people use the dashboard. */
export interface DashboardPlace extends Pick<Origins, 'authUrl'> {
  /** The port that serves the dashboard, if the other ports do not serve it (D1a); otherwise null. */
  readonly dashboard: { readonly host: string; readonly port: number } | null
}

/** A request that arrived on the dashboard's own port. */
export class DashboardMessage extends IncomingMessage {}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes all paths that no other route has. It can respond with a page for an unknown path. */
    readonly isUnknownPath?: true
  }
}

const NO_ENDPOINT = 'There is no endpoint at this path.'

/** The path of the MCP server, on both hosts (D71). */
export const MCP_PATH = '/mcp'
/** The paths of our protected resources (RFC 9728): the whole host, and the MCP server. */
export const RESOURCE_PATHS = ['', MCP_PATH] as const

export type ResourcePath = (typeof RESOURCE_PATHS)[number]

/** Returns the protected resources of the service, in canonical form (D39): each origin, with and without `/mcp`. */
export function listResources({ baseUrl, authUrl }: Origins): string[] {
  const origins = [...new Set([baseUrl, authUrl])]
  return origins.flatMap((origin) => RESOURCE_PATHS.map((path) => origin + path))
}

/**
 * Returns the configured origin that a request was sent to. The `Host` header only chooses between our two origins; any
 * other value selects the REST API's origin. The addresses that we publish are never taken from a header (D40a).
 */
export function originOf(request: FastifyRequest, { baseUrl, authUrl }: Origins): string {
  return hostOf(request) === new URL(authUrl).host ? authUrl : baseUrl
}

/**
 * Creates the hook for routes that exist only on the host of `AUTH_URL`: those of the authorization server, and of the
 * dashboard with its cookie. On any other host, these paths respond with 404. The error names the right host, unless
 * the route stands for unknown paths, which do not exist on the right host either.
 */
export function onAuthHostOnly({ authUrl }: Pick<Origins, 'authUrl'>) {
  const authHost = new URL(authUrl).host

  return async function refuseOtherHosts(request: FastifyRequest): Promise<void> {
    if (hostOf(request) === authHost) return
    const isUnknown = request.routeOptions.config.isUnknownPath === true
    const message = isUnknown ? NO_ENDPOINT : `There is no endpoint at this path on this host. Try ${authUrl}.`
    throw new Problem('not_found', message)
  }
}

/**
 * Creates the hook for routes that people open in a browser: the dashboard with its endpoints, and the consent page.
 * They exist on the host of `AUTH_URL`, and if the dashboard has a port of its own, only on this port (D1a).
 */
export function onDashboardOnly({ authUrl, dashboard }: DashboardPlace) {
  const refuseOtherHosts = onAuthHostOnly({ authUrl })

  return async function refuseOtherPorts(request: FastifyRequest): Promise<void> {
    if (dashboard !== null && !(request.raw instanceof DashboardMessage)) throw new Problem('not_found', NO_ENDPOINT)
    await refuseOtherHosts(request)
  }
}

/**
 * Returns the request's host in the form that a URL has: lower case, without a default port. `X-Forwarded-Host` is
 * ignored, because any client can send it.
 */
export function hostOf({ headers, protocol }: FastifyRequest): string | null {
  const url = `${protocol}://${headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url).host : null
}
