import { toProblem } from '../http/to-problem.ts'
import type { Problem, ProblemType } from '../values/problem.ts'
import {
  InvalidClientMetadata,
  InvalidRequest,
  OauthError,
  ServerError,
  TemporarilyUnavailable,
} from './oauth-error.ts'

/** How an endpoint takes its body, and what it calls a request that can't even be read. */
export interface BodyKind {
  readonly contentType: string
  readonly Unreadable: typeof InvalidRequest | typeof InvalidClientMetadata
}

export const FORM: BodyKind = { contentType: 'application/x-www-form-urlencoded', Unreadable: InvalidRequest }
/** Registration has a name of its own for it (RFC 7591, section 3.2.2). */
export const JSON_METADATA: BodyKind = { contentType: 'application/json', Unreadable: InvalidClientMetadata }

type Conversion = (given: { readonly message: string; readonly rest: object; readonly kind: BodyKind }) => OauthError

/** Other problems, those of a body that was not understood among them, are the kind's own `Unreadable`. */
const CONVERSIONS: Partial<Record<ProblemType, Conversion>> = {
  rate_limited: ({ message, rest }) => new TemporarilyUnavailable(message, rest),
  unavailable: ({ message, rest }) => new TemporarilyUnavailable(message, rest),
  internal: ({ message, rest }) => new ServerError(message, rest),
  // RFC 6749, section 5.2, has 400 for whatever is wrong with a request.
  unsupported_media_type: ({ kind: { Unreadable, contentType } }) => new Unreadable(`Send the body as ${contentType}.`),
}

/** Makes an error of the protocol of whatever was thrown (D35). A problem's sentence and status are kept. */
export function toOauthError(thrown: unknown, kind: BodyKind): OauthError {
  if (thrown instanceof OauthError) return thrown
  const problem: Problem = toProblem(thrown)
  const { type, status, message, cause, retryAfterSeconds } = problem
  const rest = { status, cause, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
  return CONVERSIONS[type]?.({ message, rest, kind }) ?? new kind.Unreadable(message, rest)
}
