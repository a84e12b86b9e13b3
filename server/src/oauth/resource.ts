import { listResources, type Origins } from '../http/hosts.ts'
import { InvalidTarget } from './oauth-error.ts'
import { listParameter, type RequestParameters } from './parameters.ts'

const ORIGIN_AND_PATH = /^([a-z]+:\/\/[^/?#]*)(.*)$/i

/**
 * Returns the resource that a request names, in canonical form (RFC 8707; D39). The form is one of our origins, with or
 * without the path `/mcp`, and without a slash at the end. Returns the first resource if the request names several, and
 * null if it names none. Throws `invalid_target` if any of them is not ours.
 */
export function parseResource(parameters: RequestParameters, origins: Origins): string | null {
  const own = listResources(origins)
  const resources = listParameter(parameters, 'resource').map(toCanonical)
  if (resources.every((resource) => own.includes(resource))) return resources[0] ?? null
  throw new InvalidTarget(`resource must be one of ${own.join(', ')}.`, { parameter: 'resource' })
}

/** Converts a resource to canonical form. Scheme and host are case-insensitive, and some clients append a slash. */
function toCanonical(text: string): string {
  const [, origin = '', path = ''] = ORIGIN_AND_PATH.exec(text) ?? []
  return origin.toLowerCase() + path.replace(/\/$/, '')
}
