import { cellHeader } from '../http/send-problem.ts'
import { toProblem } from '../http/to-problem.ts'
import type { Problem, ProblemType } from '../values/problem.ts'
import {
  InvalidClientMetadata,
  InvalidRequest,
  OauthError,
  ServerError,
  TemporarilyUnavailable,
} from './oauth-error.ts'

/** The content type that an endpoint accepts, and its error for a request that cannot be parsed. */
export interface BodyKind {
  readonly contentType: string
  readonly Unreadable: typeof InvalidRequest | typeof InvalidClientMetadata
}

export const FORM: BodyKind = { contentType: 'application/x-www-form-urlencoded', Unreadable: InvalidRequest }
/** The registration endpoint has its own error for a body that cannot be parsed (RFC 7591, section 3.2.2). */
export const JSON_METADATA: BodyKind = { contentType: 'application/json', Unreadable: InvalidClientMetadata }

type Conversion = (given: { readonly message: string; readonly rest: object; readonly kind: BodyKind }) => OauthError

/**
 * How problems become OAuth errors, by their type. All other problems, such as an invalid body, become the endpoint's
 * `Unreadable` error.
 */
const CONVERSIONS: Partial<Record<ProblemType, Conversion>> = {
  rate_limited: ({ message, rest }) => new TemporarilyUnavailable(message, rest),
  // Another error would make the client discard its tokens, which work in the other cell.
  misdirected: ({ message, rest }) => new TemporarilyUnavailable(message, rest),
  unavailable: ({ message, rest }) => new TemporarilyUnavailable(message, rest),
  internal: ({ message, rest }) => new ServerError(message, rest),
  // The status is 400 instead of 415, as for every invalid request (RFC 6749, section 5.2).
  unsupported_media_type: ({ kind: { Unreadable, contentType } }) =>
    new Unreadable(`Send the request body as ${contentType}.`),
}

/**
 * Converts anything that was thrown into an OAuth error (D35). Keeps the message and status of a problem, except for a
 * body of the wrong content type.
 */
export function toOauthError(thrown: unknown, kind: BodyKind): OauthError {
  if (thrown instanceof OauthError) return thrown
  const problem: Problem = toProblem(thrown)
  const { type, status, message, cause, retryAfterSeconds } = problem
  const rest = {
    status,
    cause,
    headers: cellHeader(problem),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  return CONVERSIONS[type]?.({ message, rest, kind }) ?? new kind.Unreadable(message, rest)
}
