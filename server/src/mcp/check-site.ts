import type { FastifyRequest } from 'fastify'
import { hostOf, MCP_PATH, type Origins } from '../http/hosts.ts'
import { Problem } from '../values/problem.ts'

const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * Creates the hook that protects the MCP server against DNS rebinding (specification of MCP, "Security Warning"). An
 * attacker who rebinds the name of their own page to our address sends that name as `Host` and as `Origin`. So the hook
 * accepts only our two hosts as `Host`, and rejects plain http pages of other hosts, except loopback.
 *
 * All other pages may call, as they may call `/v1`, because a call needs a bearer token, which a browser never adds to
 * a request.
 * The origins of desktop applications (`vscode-webview:`, `app:`) are accepted for the same reason. Throws 403.
 */
export function createSiteCheck(origins: Origins) {
  const own = [origins.baseUrl, origins.authUrl]
  const ownHosts = own.map((origin) => new URL(origin).host)
  const advice = `Connect to ${[...new Set(own)].map((origin) => origin + MCP_PATH).join(' or ')}.`

  return async function checkSite(request: FastifyRequest): Promise<void> {
    const host = hostOf(request)
    if (host === null || !ownHosts.includes(host)) {
      throw new Problem('forbidden', `The MCP server does not respond under this host name. ${advice}`)
    }
    const { origin } = request.headers
    if (origin !== undefined && !own.includes(origin) && !isSafeOrigin(origin)) {
      throw new Problem('forbidden', 'Pages of this origin may not call the MCP server. Serve the page over https.')
    }
  }
}

function isSafeOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  return protocol !== 'http:' || LOOPBACK_HOSTS.includes(hostname)
}
