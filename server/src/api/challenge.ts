import { formatScopes, SCOPES, type Scope } from '../values/scope.ts'

/**
 * The `WWW-Authenticate` challenge (RFC 6750, section 3; RFC 9728, section 5.1). Without an error when no credential was
 * sent. The whole baseline of scopes unless one is missing: clients register what the first challenge names, and could
 * never ask for more later.
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
