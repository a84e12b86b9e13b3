import { BursarError, nameErrors, type ErrorContext } from './errors.ts'
import type { ErrorBody } from './types.ts'

/** The body of an error as it arrived. It can have types and codes that this version of the client does not know. */
export interface ReceivedError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly details?: unknown
}

export interface ErrorResponse {
  readonly status: number
  readonly retryAfterSeconds: number | null
}

class ReceivedApiError extends BursarError {
  static {
    nameErrors(this, 'ApiError')
  }

  /** The HTTP status. */
  readonly status: number
  readonly type: string
  readonly code: string | undefined
  readonly details: unknown
  /** How long to wait before another request, in seconds. Null if the response does not say it. */
  readonly retryAfterSeconds: number | null

  constructor(body: ReceivedError, response: ErrorResponse, context: ErrorContext) {
    super(body.message, context)
    this.status = response.status
    this.type = body.type
    this.code = body.code
    this.details = body.details
    this.retryAfterSeconds = response.retryAfterSeconds
  }
}

interface Fields extends BursarError {
  readonly status: number
  readonly retryAfterSeconds: number | null
}
type CodeOf<Body> = Body extends { code: infer Code } ? Code : undefined
type DetailsOf<Body> = 'details' extends keyof Body ? Body['details' & keyof Body] : undefined
/** A union with one member for each error, so that comparing `error.code` decides the type of `error.details`. */
type ErrorOf<Body> = Body extends ErrorBody
  ? Fields & { readonly type: Body['type']; readonly code: CodeOf<Body>; readonly details: DetailsOf<Body> }
  : never

interface ErrorClass<Body> {
  new (body: ReceivedError, response: ErrorResponse, context: ErrorContext): ErrorOf<Body>
  readonly prototype: ErrorOf<Body>
}

/** The error codes which mean that the grant, the plan, the wallet's funds or the caller's limit forbids a payment. */
const REFUSAL_CODES = [
  'permission_not_found',
  'permission_expired',
  'contract_not_allowed',
  'recipient_not_allowed',
  'purchases_not_allowed',
  'amount_too_large',
  'daily_cap_exceeded',
  'plan_cap_exceeded',
  'insufficient_balance',
  'insufficient_gas',
  'price_too_high',
  'storage_full',
] as const
type RefusalCode = (typeof REFUSAL_CODES)[number]
type RefusalBody = Extract<ErrorBody, { code: RefusalCode }>
type BodyOfType<Type extends ErrorBody['type']> = Exclude<Extract<ErrorBody, { type: Type }>, RefusalBody>

/**
 * The service responded with an error. Compare `code` to tell errors apart: it decides the type of `details`. New
 * codes can be added to the API, so always handle unknown codes too.
 */
export const ApiError = ReceivedApiError as unknown as ErrorClass<ErrorBody>
export type ApiError = ErrorOf<ErrorBody>

/**
 * A limit rejected the payment, and nothing was paid. The client does not retry the request, because it would be
 * rejected again until the limit allows it. `details` says what would be possible.
 *
 * @example
 * ```ts
 * try {
 *   await bursar.payments.create(params)
 * } catch (error) {
 *   if (!(error instanceof PaymentRefusedError)) throw error
 *   if (error.code === 'daily_cap_exceeded') log(`Try again at ${error.details.resets_at}.`)
 *   else if (error.code === 'amount_too_large') log(`At most ${error.details.max_per_tx_usdc} USDC.`)
 *   else log(error.message)
 * }
 * ```
 */
export const PaymentRefusedError = define<RefusalBody>('PaymentRefusedError')
export type PaymentRefusedError = ErrorOf<RefusalBody>

/** The request is not valid (400, 413, 415). `details` lists what is wrong. */
export const BadRequestError = define<BodyOfType<BadRequestType>>('BadRequestError')
export type BadRequestError = ErrorOf<BodyOfType<BadRequestType>>
type BadRequestType = 'validation_failed' | 'payload_too_large' | 'unsupported_media_type'

/** The API key or access token is missing, unknown, revoked or expired (401). */
export const AuthenticationError = define<BodyOfType<'unauthenticated'>>('AuthenticationError')
export type AuthenticationError = ErrorOf<BodyOfType<'unauthenticated'>>

/** The credential does not allow this request (403). */
export const PermissionDeniedError = define<BodyOfType<'forbidden'>>('PermissionDeniedError')
export type PermissionDeniedError = ErrorOf<BodyOfType<'forbidden'>>

/** There is no such agent, wallet, payment or event in this workspace and mode (404). */
export const NotFoundError = define<BodyOfType<'not_found'>>('NotFoundError')
export type NotFoundError = ErrorOf<BodyOfType<'not_found'>>

/** The current status of the resource does not allow this request (409). */
export const ConflictError = define<BodyOfType<'conflict'>>('ConflictError')
export type ConflictError = ErrorOf<BodyOfType<'conflict'>>

/** Too many requests, even after the retries (429). `retryAfterSeconds` says how long to wait. */
export const RateLimitError = define<BodyOfType<'rate_limited'>>('RateLimitError')
export type RateLimitError = ErrorOf<BodyOfType<'rate_limited'>>

/** The service failed, even after the retries (500, 502, 503). */
export const InternalServerError = define<BodyOfType<InternalType>>('InternalServerError')
export type InternalServerError = ErrorOf<BodyOfType<InternalType>>
type InternalType = 'internal' | 'bad_gateway' | 'unavailable'

const CLASSES: Readonly<Record<ErrorBody['type'], typeof ReceivedApiError>> = {
  validation_failed: plain(BadRequestError),
  payload_too_large: plain(BadRequestError),
  unsupported_media_type: plain(BadRequestError),
  unauthenticated: plain(AuthenticationError),
  forbidden: plain(PermissionDeniedError),
  not_found: plain(NotFoundError),
  conflict: plain(ConflictError),
  misdirected: ReceivedApiError,
  rate_limited: plain(RateLimitError),
  internal: plain(InternalServerError),
  bad_gateway: plain(InternalServerError),
  unavailable: plain(InternalServerError),
}

/** Creates the error of the class that belongs to the type and the code. An unknown type becomes an `ApiError`. */
export function createApiError(body: ReceivedError, response: ErrorResponse, context: ErrorContext): BursarError {
  const isRefusal = REFUSAL_CODES.some((code) => code === body.code)
  const known = Object.hasOwn(CLASSES, body.type) ? CLASSES[body.type as ErrorBody['type']] : ReceivedApiError
  return new (isRefusal ? plain(PaymentRefusedError) : known)(body, response, context)
}

function define<Body>(name: string): ErrorClass<Body> {
  const errorClass = class extends ReceivedApiError {}
  nameErrors(errorClass, name)
  return errorClass as unknown as ErrorClass<Body>
}

/** Returns the class itself, with a general type that does not say which codes its errors have. */
function plain(errorClass: object): typeof ReceivedApiError {
  return errorClass as typeof ReceivedApiError
}
