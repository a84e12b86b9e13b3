import type { Origins } from '../http/hosts.ts'
import { InvalidTarget } from './oauth-error.ts'
import { listParameter, type RequestParameters } from './parameters.ts'

const ORIGIN_AND_PATH = /^([a-z]+:\/\/[^/?#]*)(.*)$/i

/**
 * The resource that a request names (RFC 8707; D39), in its canonical form: one of our origins, or its `/mcp`, without a
 * slash at the end. The first one when there are several. Null when it names none; throws `invalid_target` when any of
 * them is not ours.
 */
export function parseResource(parameters: RequestParameters, origins: Origins): string | null {
  const own = [origins.baseUrl, origins.authUrl].flatMap((origin) => [origin, `${origin}/mcp`])
  const resources = listParameter(parameters, 'resource').map(toCanonical)
  if (resources.every((resource) => own.includes(resource))) return resources[0] ?? null
  throw new InvalidTarget(`A resource here is one of ${[...new Set(own)].join(', ')}.`, { parameter: 'resource' })
}

/** Scheme and host are case-insensitive, and clients add a slash. */
function toCanonical(text: string): string {
  const [, origin = '', path = ''] = ORIGIN_AND_PATH.exec(text) ?? []
  return origin.toLowerCase() + path.replace(/\/$/, '')
}
