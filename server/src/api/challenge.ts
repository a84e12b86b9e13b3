import { formatScopes, SCOPES, type Scope } from '../values/scope.ts'

/**
 * Formats the `WWW-Authenticate` challenge (RFC 6750, section 3; RFC 9728, section 5.1). It has no error if no credential was
 * sent. It names all scopes unless one is missing, because clients register the scopes of the first challenge, and cannot
 * request more later.
 */
export function formatChallenge({
  origin,
  error,
  scopes = SCOPES,
}: {
  origin: string
  error?: 'invalid_token' | 'insufficient_scope' | undefined
  scopes?: readonly Scope[]
}): string {
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `scope="${formatScopes(scopes)}"`,
    `resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
  ]
  return `Bearer ${parameters.join(', ')}`
}
