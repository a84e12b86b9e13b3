import { PAYMENT_WAIT_SECONDS_MAX } from '../domain/reconciliation/wait-for-payment.ts'
import { invalidMember } from '../values/invalid-request.ts'

const WHOLE_SECONDS = /^(?:0|[1-9]\d?)$/

/** Parses the query of `GET /v1/payments/{id}` (D57). Throws 400 `validation_failed` if `wait` is not valid. */
export function parsePaymentQuery(query: unknown): { readonly waitMs: number } {
  const text = typeof query === 'object' && query !== null && 'wait' in query ? query.wait : '0'
  // If the parameter was sent twice, the framework passes an array, which is not valid.
  const seconds = typeof text === 'string' && WHOLE_SECONDS.test(text) ? Number(text) : Number.NaN
  if (seconds <= PAYMENT_WAIT_SECONDS_MAX) return { waitMs: seconds * 1_000 }
  throw invalidMember('wait', `must be a whole number of seconds from 0 to ${PAYMENT_WAIT_SECONDS_MAX}`)
}
