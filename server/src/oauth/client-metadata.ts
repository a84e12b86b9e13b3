import { formatScopes, parseScopes, SCOPES, type Scope } from '../values/scope.ts'
import { toClientName } from './client-name.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from './oauth-error.ts'
import { parseRedirectUri } from './redirect-uri.ts'

const REDIRECT_URIS_MAX = 10

export interface ClientMetadata {
  /** Null when it has none that can be shown. */
  readonly name: string | null
  readonly redirectUris: readonly string[]
  readonly scopes: readonly Scope[]
}

/**
 * What a client says of itself (RFC 7591, section 2; D36a). Members that we don't know are ignored, and those of which we
 * have one kind only: grants, response types, authentication methods. Throws `invalid_client_metadata` or
 * `invalid_redirect_uri`.
 */
export function parseClientMetadata(body: unknown, ownOrigins: readonly string[]): ClientMetadata {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidClientMetadata('Send a JSON object.')
  }
  const members = new Map<string, unknown>(Object.entries(body))
  return {
    redirectUris: parseRedirectUris(members.get('redirect_uris'), ownOrigins),
    name: parseName(members),
    scopes: parseRegisteredScopes(members),
  }
}

/** Those that may be registered, each once; the others are dropped (RFC 7591, section 3.2.1). At least one. */
function parseRedirectUris(value: unknown, ownOrigins: readonly string[]): string[] {
  const texts = isListOfStrings(value) ? [...new Set(value)] : []
  if (texts.length === 0) throw invalidRedirectUris('redirect_uris is a list of at least one string.')
  if (texts.length > REDIRECT_URIS_MAX) {
    throw invalidRedirectUris(`A client has at most ${REDIRECT_URIS_MAX} redirect URIs.`)
  }
  const allowed = texts.filter((text) => parseRedirectUri(text, ownOrigins) !== null)
  if (allowed.length > 0) return allowed
  throw invalidRedirectUris(
    'None of the redirect URIs can be registered: each is https, or http on 127.0.0.1, [::1] or localhost, without a fragment, user information or a wildcard.',
  )
}

function parseName(members: ReadonlyMap<string, unknown>): string | null {
  const name = toClientName(findText(members, 'client_name') ?? '')
  return name === '' ? null : name
}

/** All when nothing is said (D36a). */
function parseRegisteredScopes(members: ReadonlyMap<string, unknown>): readonly Scope[] {
  const parameter = 'scope'
  const text = findText(members, parameter)
  if (text === null) return SCOPES
  const scopes = parseScopes(text)
  if (scopes !== null && scopes.length > 0) return scopes
  throw new InvalidClientMetadata(`scope is some of ${formatScopes(SCOPES)}, separated by single spaces.`, {
    parameter,
  })
}

/** A string that is not empty; null when there is none, which some clients write as `null`. */
function findText(members: ReadonlyMap<string, unknown>, name: string): string | null {
  const value = members.get(name) ?? ''
  if (typeof value !== 'string') throw new InvalidClientMetadata(`${name} is a string.`, { parameter: name })
  return value === '' ? null : value
}

function isListOfStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function invalidRedirectUris(description: string): InvalidRedirectUri {
  return new InvalidRedirectUri(description, { parameter: 'redirect_uris' })
}
