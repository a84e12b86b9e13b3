import { ApiError } from './errors.ts'

/** A failure response that the provider documents, or that a gateway in front of the provider sends. */
interface FaultyAnswer {
  readonly status: number
  readonly message: string
  readonly code?: string
  /** Whether the enclave sends the transfer despite this response. */
  readonly lands?: true
  /** False if the provider does not store the response under the idempotency key. */
  readonly kept?: false
  readonly retryAfterSeconds?: number
  /** Whether the body is an HTML page, as sent by a gateway in front of the provider. */
  readonly isPage?: true
}

const BROADCAST_FAILED = {
  status: 400,
  message: 'Transaction broadcast failed. Details: the RPC node did not accept the transaction',
  code: 'transaction_broadcast_failure',
} as const
const SERVER_ERROR = { status: 500, message: 'Internal server error' } as const
const CONFLICT = {
  status: 409,
  message: 'Another request for this resource is in progress',
  code: 'resource_conflict',
  kept: false,
} as const
const BAD_GATEWAY = { status: 502, message: '502 Bad Gateway', kept: false, isPage: true } as const
const NOT_JSON = { status: 200, message: 'Just a moment...', kept: false, isPage: true } as const

const ANSWERS = {
  reject: { status: 400, message: 'RPC request denied due to policy violation', code: 'policy_violation' },
  unavailable: { status: 503, message: 'The service is unavailable', kept: false },
  rate_limited: {
    status: 429,
    message: 'Too many requests. Please wait to try again.',
    code: 'too_many_requests',
    retryAfterSeconds: 1,
  },
  credits_spent: { status: 400, message: 'Insufficient gas credits balance', code: 'insufficient_funds' },
  // The provider documents this message. Its code and status are our guess, and so are the codes and statuses of
  // `conflict` and `duplicate_reference`.
  sponsorship_off: { status: 400, message: 'Gas sponsorship is not enabled for this app', code: 'invalid_data' },
  broadcast_failed: BROADCAST_FAILED,
  broadcast_failed_lands: { ...BROADCAST_FAILED, lands: true },
  server_error: SERVER_ERROR,
  server_error_lands: { ...SERVER_ERROR, lands: true },
  conflict: CONFLICT,
  conflict_lands: { ...CONFLICT, lands: true },
  request_timeout: { status: 408, message: 'Request timed out', kept: false },
  request_expired: { status: 401, message: 'The request has expired', code: 'request_expired' },
  duplicate_reference: { status: 400, message: 'reference_id must be unique', code: 'invalid_data' },
  bad_credentials: { status: 401, message: 'Invalid app ID or app secret.' },
  unknown_wallet: { status: 404, message: 'Wallet not found' },
  forbidden_page: { status: 403, message: '403 Forbidden', kept: false, isPage: true },
  bad_gateway: BAD_GATEWAY,
  bad_gateway_lands: { ...BAD_GATEWAY, lands: true },
  not_json: NOT_JSON,
  not_json_lands: { ...NOT_JSON, lands: true },
} as const satisfies Readonly<Record<string, FaultyAnswer>>

export type AnswerFault = keyof typeof ANSWERS

/**
 * Faults that replace the true response. With a fault whose name ends in `_lands`, the enclave sends the transfer
 * anyway.
 */
export const ANSWER_FAULTS = Object.keys(ANSWERS) as readonly AnswerFault[]

export function findAnswerFault(fault: string): FaultyAnswer | null {
  return ANSWER_FAULTS.some((known) => known === fault) ? ANSWERS[fault as AnswerFault] : null
}

export function raiseAnswer({ status, message, isPage, ...options }: FaultyAnswer): ApiError {
  if (isPage !== true) return new ApiError(status, message, options)
  const page = `<!DOCTYPE html><html><head><title>${message}</title></head><body><h1>${message}</h1></body></html>\n`
  return new ApiError(status, message, { ...options, page })
}
