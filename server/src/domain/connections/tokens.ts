import type { Scope } from '../../values/scope.ts'

/** The result of an exchange or a refresh. The two secrets are shown once; only their hashes are stored. */
export interface Tokens {
  readonly kind: 'issued'
  readonly accessToken: string
  readonly refreshToken: string
  /** The scopes of the access token. The refresh token always keeps all granted scopes (RFC 6749, section 6). */
  readonly scopes: readonly Scope[]
  readonly expiresInSeconds: number
}

/** Why no tokens were issued, as the client is told (RFC 6749, section 5.2; RFC 8707, section 2). */
export interface TokenRefusal {
  readonly kind: 'refused'
  readonly error: 'invalid_grant' | 'invalid_scope' | 'invalid_target'
  /** One or two sentences, in the characters that RFC 6749 allows: no quotes and no backslash. */
  readonly description: string
}

/**
 * The same text for every fault, so that an attacker who guesses learns nothing. It tells an honest client what to
 * check and what to do next.
 */
export const CODE_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_grant',
  description:
    'The code is not valid. A code works once, within 60 seconds, with the client_id and redirect_uri of its request and the code_verifier of its code_challenge. Start a new authorization request.',
}

export const REFRESH_TOKEN_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_grant',
  description:
    'The refresh token is not valid for this client. A refresh token works once, within 30 days, while its connection lasts. Start a new authorization request.',
}

/** Only returned to a client with a valid code or refresh token. Such a request uses nothing up and can be repeated. */
export const RESOURCE_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_target',
  description: 'The resource is not the one that was authorized. Leave resource out, or send the same one again.',
}

export const SCOPE_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_scope',
  description:
    'The scope is not a part of what was granted. Leave scope out to get all of it, or start a new authorization request to ask for more.',
}
