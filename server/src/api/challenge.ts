import { formatScopes, SCOPES, type Scope } from '../values/scope.ts'

/**
 * Formats the `WWW-Authenticate` challenge (RFC 6750, section 3; RFC 9728, section 5.1). If no credential was sent, the
 * challenge has no error. If the credential does not have a required scope, the challenge names that scope. Every other
 * challenge names all scopes, because clients register the scopes of the first challenge, and cannot request more
 * later. `resourcePath` selects the metadata of the resource that was called.
 */
export function formatChallenge({
  origin,
  error,
  scopes = SCOPES,
  resourcePath = '',
}: {
  origin: string
  error?: 'invalid_token' | 'insufficient_scope' | undefined
  scopes?: readonly Scope[]
  resourcePath?: string | undefined
}): string {
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `scope="${formatScopes(scopes)}"`,
    `resource_metadata="${origin}/.well-known/oauth-protected-resource${resourcePath}"`,
  ]
  return `Bearer ${parameters.join(', ')}`
}
