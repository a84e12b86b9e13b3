import { hostOfClientUrl } from '../domain/connections/client-url.ts'
import { parseScopes, SCOPES, type Scope } from '../values/scope.ts'
import { isListOfStrings, REDIRECT_URIS_MAX } from './client-metadata.ts'
import { toClientName } from './client-name.ts'
import { InvalidClientDocument } from './oauth-error.ts'
import { describeRedirectUriFaults, findRedirectUriFault, isLoopbackUri, parseRedirectUri } from './redirect-uri.ts'

/** What the service uses of a client's metadata document. */
export interface ClientDocument {
  /** The name in the document, or the host of its URL. Not shown as the client's identity. */
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly scopes: readonly Scope[]
}

/** The only authentication method that the token endpoint supports. */
const PUBLIC_METHOD = 'none'

/**
 * Parses a client's metadata document (D73; draft-ietf-oauth-client-id-metadata-document). Unknown members and unknown
 * grant types are ignored. `url` is the URL from which the document was fetched. Throws `InvalidClientDocument`.
 */
export function parseClientDocument(
  document: object,
  { url, ownOrigins }: { url: string; ownOrigins: readonly string[] },
): ClientDocument {
  const members = new Map<string, unknown>(Object.entries(document))
  // Compared as text. A document that names another URL was not written for this client id.
  if (members.get('client_id') !== url) throw invalid(url, 'its client_id is not the URL of the document')
  if ([...members.keys()].some((name) => name.startsWith('client_secret'))) {
    throw invalid(url, 'it contains a client secret, which everybody could read')
  }
  if (!allowsPublicClient(members)) {
    throw invalid(url, 'it does not allow token_endpoint_auth_method none, the only one that this server supports')
  }
  return {
    name: parseName(members) ?? hostOfClientUrl(url),
    redirectUris: parseRedirectUris(members.get('redirect_uris'), { url, ownOrigins }),
    scopes: parseDocumentScopes(members),
  }
}

/**
 * Returns whether the client may call the token endpoint without authentication. A list of methods takes precedence
 * over a single method: a client that supports several methods names the one that it prefers, and lists all.
 */
function allowsPublicClient(members: ReadonlyMap<string, unknown>): boolean {
  const methods = members.get('token_endpoint_auth_methods_supported')
  if (isListOfStrings(methods) && methods.includes(PUBLIC_METHOD)) return true
  return (members.get('token_endpoint_auth_method') ?? (methods === undefined ? PUBLIC_METHOD : null)) === PUBLIC_METHOD
}

/**
 * Returns the redirect URIs that are on loopback, or on the same origin as the document. All others are dropped. The
 * consent page shows the document's host, so the response must not go to another host.
 */
function parseRedirectUris(
  value: unknown,
  { url, ownOrigins }: { url: string; ownOrigins: readonly string[] },
): readonly string[] {
  const listed = isListOfStrings(value) ? value : []
  const texts = [...new Set(listed)]
  if (texts.length === 0) throw invalid(url, 'its redirect_uris is not a list of at least one string')
  const { origin } = new URL(url)
  const findFault = (text: string): string | null => {
    const uri = parseRedirectUri(text, ownOrigins)
    if (uri === null) return findRedirectUriFault(text, ownOrigins)
    const isAllowed = isLoopbackUri(uri) || new URL(text).origin === origin
    return isAllowed ? null : 'is not on the same origin as the document, nor http on loopback'
  }
  const allowed = texts.filter((text) => findFault(text) === null)
  if (allowed.length === 0) {
    throw invalid(url, `none of its redirect_uris is allowed: ${describeRedirectUriFaults(listed, findFault)}`)
  }
  if (allowed.length <= REDIRECT_URIS_MAX) return allowed
  throw invalid(url, `it has more than ${REDIRECT_URIS_MAX} redirect_uris`)
}

function parseName(members: ReadonlyMap<string, unknown>): string | null {
  const value = members.get('client_name')
  const name = typeof value === 'string' ? toClientName(value) : ''
  return name === '' ? null : name
}

/**
 * Returns those of our scopes that the document names, or all if it names none. A document is written for many servers,
 * so its scopes need not be ours.
 */
function parseDocumentScopes(members: ReadonlyMap<string, unknown>): readonly Scope[] {
  const value = members.get('scope')
  const scopes = typeof value === 'string' ? (parseScopes(value) ?? []) : []
  return scopes.length === 0 ? SCOPES : scopes
}

function invalid(url: string, reason: string): InvalidClientDocument {
  return new InvalidClientDocument(`The client metadata document at ${hostOfClientUrl(url)} is not valid: ${reason}.`)
}
