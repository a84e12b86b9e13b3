import type { Origins } from '../http/hosts.ts'
import { InvalidTarget } from './oauth-error.ts'
import { listParameter, type RequestParameters } from './parameters.ts'

const ORIGIN_AND_PATH = /^([a-z]+:\/\/[^/?#]*)(.*)$/i

/**
 * Returns the resource that a request names (RFC 8707; D39) in canonical form: one of our origins, or its `/mcp`,
 * without a slash at the end. With several, returns the first. Returns null if there is none. Throws `invalid_target`
 * if any of them is not ours.
 */
export function parseResource(parameters: RequestParameters, origins: Origins): string | null {
  const own = [origins.baseUrl, origins.authUrl].flatMap((origin) => [origin, `${origin}/mcp`])
  const resources = listParameter(parameters, 'resource').map(toCanonical)
  if (resources.every((resource) => own.includes(resource))) return resources[0] ?? null
  throw new InvalidTarget(`resource must be one of ${[...new Set(own)].join(', ')}.`, { parameter: 'resource' })
}

/** Scheme and host are case-insensitive, and some clients append a slash. */
function toCanonical(text: string): string {
  const [, origin = '', path = ''] = ORIGIN_AND_PATH.exec(text) ?? []
  return origin.toLowerCase() + path.replace(/\/$/, '')
}
