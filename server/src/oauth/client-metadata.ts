import { formatScopes, parseScopes, SCOPES, type Scope } from '../values/scope.ts'
import { toClientName } from './client-name.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from './oauth-error.ts'
import { describeRedirectUriFaults, findRedirectUriFault } from './redirect-uri.ts'

export const REDIRECT_URIS_MAX = 10

export interface ClientMetadata {
  /** Null if the client sent no name that can be displayed. */
  readonly name: string | null
  readonly redirectUris: readonly string[]
  readonly scopes: readonly Scope[]
}

/**
 * Parses the metadata of a client that registers (RFC 7591, section 2; D36a). Unknown members are ignored. Grant types,
 * response types and the authentication method are ignored too, because the service supports only one choice of each.
 * Throws `invalid_client_metadata` or `invalid_redirect_uri`.
 */
export function parseClientMetadata(body: unknown, ownOrigins: readonly string[]): ClientMetadata {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidClientMetadata('The request body must be a JSON object.')
  }
  const members = new Map<string, unknown>(Object.entries(body))
  return {
    redirectUris: parseRedirectUris(members.get('redirect_uris'), ownOrigins),
    name: parseName(members),
    scopes: parseRegisteredScopes(members),
  }
}

/**
 * Returns the allowed redirect URIs without duplicates, and drops all others (RFC 7591, section 3.2.1). Throws
 * `invalid_redirect_uri` if none is allowed.
 */
function parseRedirectUris(value: unknown, ownOrigins: readonly string[]): string[] {
  const listed = isListOfStrings(value) ? value : []
  const texts = [...new Set(listed)]
  if (texts.length === 0) throw invalidRedirectUris('redirect_uris must be a list of at least one string.')
  if (texts.length > REDIRECT_URIS_MAX) {
    throw invalidRedirectUris(`redirect_uris can have at most ${REDIRECT_URIS_MAX} items.`)
  }
  const findFault = (text: string): string | null => findRedirectUriFault(text, ownOrigins)
  const allowed = texts.filter((text) => findFault(text) === null)
  if (allowed.length > 0) return allowed
  throw invalidRedirectUris(
    `None of the redirect URIs is allowed: ${describeRedirectUriFaults(listed, findFault)}. A redirect URI must use https, or http on 127.0.0.1, [::1] or localhost.`,
  )
}

function parseName(members: ReadonlyMap<string, unknown>): string | null {
  const name = toClientName(findText(members, 'client_name') ?? '')
  return name === '' ? null : name
}

/** Without `scope`, a client is registered for all scopes (D36a). Unknown scopes are ignored (D50). */
function parseRegisteredScopes(members: ReadonlyMap<string, unknown>): readonly Scope[] {
  const parameter = 'scope'
  const text = findText(members, parameter)
  if (text === null) return SCOPES
  const scopes = parseScopes(text)
  if (scopes !== null && scopes.length > 0) return scopes
  throw new InvalidClientMetadata(`scope must be one or more of ${formatScopes(SCOPES)}, separated by single spaces.`, {
    parameter,
  })
}

/**
 * Returns a member's text, or null if the member is missing, null or empty. Some clients send `null` for a missing
 * member.
 */
function findText(members: ReadonlyMap<string, unknown>, name: string): string | null {
  const value = members.get(name) ?? ''
  if (typeof value !== 'string') throw new InvalidClientMetadata(`${name} must be a string.`, { parameter: name })
  return value === '' ? null : value
}

export function isListOfStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function invalidRedirectUris(description: string): InvalidRedirectUri {
  return new InvalidRedirectUri(description, { parameter: 'redirect_uris' })
}
