import { cutText } from '../lib/cut-text.ts'

/**
 * Matches characters that a description must not contain. Only printable ASCII is allowed, without double quotes and
 * backslashes (RFC 6749, sections 4.1.2.1 and 5.2).
 */
const DESCRIPTION_FORBIDDEN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g
/** Enough to say for each redirect URI of a registration which rule it breaks. */
const DESCRIPTION_CHARS_MAX = 1_500

interface Narrowing {
  /** Replaces the default status of the error. */
  readonly status?: number
  /** The parameter or member that caused the error. */
  readonly parameter?: string
  readonly retryAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * An error of the OAuth protocol. It has a registered `error` code, a sentence for the client's developer, and the HTTP
 * status for JSON endpoints.
 */
export abstract class OauthError extends Error {
  abstract readonly error: string
  readonly status: number
  readonly parameter: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(description: string, { status = 400, ...rest }: Narrowing = {}) {
    super(filterDescription(description), { cause: rest.cause })
    this.status = status
    this.parameter = rest.parameter
    this.retryAfterSeconds = rest.retryAfterSeconds
    this.headers = rest.headers ?? {}
  }
}

/** A parameter is missing, repeated or malformed (RFC 6749, sections 4.1.2.1 and 5.2). */
export class InvalidRequest extends OauthError {
  override readonly error = 'invalid_request'

  static missing(parameter: string): InvalidRequest {
    return new InvalidRequest(`${parameter} is required and must appear exactly once.`, { parameter })
  }
}

/**
 * The client is unknown. The status is 401, and the response has a challenge only if the client used the
 * `Authorization` header (RFC 6749, section 5.2).
 */
export class InvalidClient extends OauthError {
  override readonly error = 'invalid_client'

  constructor(description: string, narrowing: Narrowing = {}) {
    super(description, { status: 401, ...narrowing })
  }
}

/**
 * The client's metadata document breaks a rule of D73, or its URL does. Trying again does not help: the document's
 * publisher must change it.
 */
export class InvalidClientDocument extends OauthError {
  override readonly error = 'invalid_client'

  constructor(reason: string) {
    super(reason, { parameter: 'client_id' })
  }
}

/** The client's metadata document could not be read now (D73). The status is 503, because trying again may help. */
export class ClientDocumentUnavailable extends OauthError {
  override readonly error = 'temporarily_unavailable'

  constructor(reason: string, narrowing: Pick<Narrowing, 'cause' | 'retryAfterSeconds'>) {
    super(reason, { status: 503, parameter: 'client_id', ...narrowing })
  }
}

/**
 * The host of the client's metadata document has no public address, or its name is unknown. The error does not reveal
 * which. Waiting alone does not help.
 */
export class ClientHostNotPublic extends ClientDocumentUnavailable {}

/** The code or refresh token is not valid, was used before, or belongs to another client (RFC 6749, section 5.2). */
export class InvalidGrant extends OauthError {
  override readonly error = 'invalid_grant'
}

/** The token endpoint does not support this `grant_type` (RFC 6749, section 5.2). */
export class UnsupportedGrantType extends OauthError {
  override readonly error = 'unsupported_grant_type'
}

/** Only `response_type=code` is supported (RFC 6749, section 4.1.2.1). */
export class UnsupportedResponseType extends OauthError {
  override readonly error = 'unsupported_response_type'
}

/** None of the requested scopes can be granted (RFC 6749, sections 4.1.2.1 and 5.2). */
export class InvalidScope extends OauthError {
  override readonly error = 'invalid_scope'
}

/** The `resource` is not one of ours, or not the one to which the user consented (RFC 8707, section 2). */
export class InvalidTarget extends OauthError {
  override readonly error = 'invalid_target'
}

/** None of the redirect URIs in the registration is allowed (RFC 7591, section 3.2.2). */
export class InvalidRedirectUri extends OauthError {
  override readonly error = 'invalid_redirect_uri'
}

/** A field of the registration is not valid (RFC 7591, section 3.2.2). */
export class InvalidClientMetadata extends OauthError {
  override readonly error = 'invalid_client_metadata'
}

/** Request objects in `request` are not supported (OpenID Connect Core 1.0, sections 3.1.2.6 and 6.1). */
export class RequestNotSupported extends OauthError {
  override readonly error = 'request_not_supported'
}

/** Request objects behind `request_uri` are never fetched (OpenID Connect Core 1.0, sections 3.1.2.6 and 6.2). */
export class RequestUriNotSupported extends OauthError {
  override readonly error = 'request_uri_not_supported'
}

/** The service cannot respond now: 503, or 429 for too many requests (D35; RFC 6749, section 4.1.2.1). */
export class TemporarilyUnavailable extends OauthError {
  override readonly error = 'temporarily_unavailable'
}

/** Something went wrong on our side: 500 (D35; RFC 6749, section 4.1.2.1). */
export class ServerError extends OauthError {
  override readonly error = 'server_error'
}

function filterDescription(text: string): string {
  return cutText(text.replaceAll('"', "'").replace(DESCRIPTION_FORBIDDEN, '?'), DESCRIPTION_CHARS_MAX)
}
