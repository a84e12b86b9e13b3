import type { Scope } from '../../values/scope.ts'

/**
 * The tokens that an exchange or a refresh issued. They are returned only once; the database stores only their hashes.
 */
export interface Tokens {
  readonly kind: 'issued'
  readonly accessToken: string
  readonly refreshToken: string
  /** The scopes of the access token. The refresh token always keeps all granted scopes (RFC 6749, section 6). */
  readonly scopes: readonly Scope[]
  readonly expiresInSeconds: number
}

/** New tokens as the database stores them: only their hashes, and when they expire. */
export interface NewTokens {
  readonly now: Date
  readonly accessHash: Buffer
  readonly accessEnd: Date
  readonly refreshHash: Buffer
  readonly refreshEnd: Date
}

/**
 * The reason why no tokens were issued, in the form that the client receives (RFC 6749, section 5.2; RFC 8707, section
 * 2).
 */
export interface TokenRefusal {
  readonly kind: 'refused'
  readonly error: 'invalid_grant' | 'invalid_scope' | 'invalid_target'
  /** A few sentences for the client's developer. RFC 6749 allows no double quotes and no backslashes in them. */
  readonly description: string
}

/**
 * Every fault of a code gets this same text, so that an attacker who guesses learns nothing. The text lists what an
 * honest client should check, and what to do next.
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
    'The refresh token is not valid for this client. A refresh token works once, within 30 days, and only until its connection ends. Start a new authorization request.',
}

/**
 * Only returned to a client that sent a valid code or refresh token. The code or token is not used up, so the client
 * can send it again with another resource.
 */
export const RESOURCE_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_target',
  description: 'The resource is not the one that was authorized. Leave resource out, or send the same one again.',
}

export const SCOPE_REFUSED: TokenRefusal = {
  kind: 'refused',
  error: 'invalid_scope',
  description:
    'The requested scope was not granted. Leave scope out to get all granted scopes, or start a new authorization request for more scopes.',
}
