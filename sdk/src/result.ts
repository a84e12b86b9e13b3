import { IdempotencyMismatchError } from './errors.ts'
import type { Sent } from './send.ts'
import type { Payment } from './types.ts'

/** A result, with what is known about its response. */
export interface WithResponse<T> {
  readonly data: T
  readonly status: number
  readonly headers: Headers
  /** The id of the response, for the operator of the service. */
  readonly requestId: string | null
  /** The idempotency key of a call that pays. It is the same in all attempts. For other calls it is null. */
  readonly idempotencyKey: string | null
  /** The number of requests that were sent. */
  readonly attempts: number
  /** Whether the payment existed before the last request. It is true after a retry if an earlier attempt arrived. */
  readonly isReplay: boolean
}

/** The result of a call. Call `withResponse()` to get the response's headers too. */
export interface Result<T> extends Promise<T> {
  withResponse(): Promise<WithResponse<T>>
}

/** Makes the result of a call from the response. `pick` chooses the part of the body that the call returns. */
export function createResult<T, R>(sent: Promise<Sent<T>>, pick: (data: T) => R): Result<R> {
  const full = sent.then((answer) => describe(answer, pick(answer.data)))
  const data = full.then((answer) => answer.data)
  return Object.assign(data, {
    withResponse: () => {
      // The caller handles the error of `full`, so the same error of `data` must not count as unhandled.
      data.catch(() => undefined)
      return full
    },
  })
}

function describe<T, R>({ status, headers, attempts, idempotencyKey }: Sent<T>, data: R): WithResponse<R> {
  const isReplay = headers.get('idempotent-replayed') === 'true'
  return { data, status, headers, requestId: headers.get('request-id'), idempotencyKey, attempts, isReplay }
}

/**
 * Throws if the idempotency key belongs to an earlier payment that differs from this request. Without this check, the
 * caller would take that payment for the one that it asked for.
 */
export function checkMatch<T extends { payment: Payment | null }>(sent: Sent<T>): Sent<T> {
  const mismatch = sent.headers.get('idempotent-mismatch')
  if (mismatch === null) return sent
  const { attempts, idempotencyKey } = sent
  throw new IdempotencyMismatchError(mismatch.split(/,\s*/), sent.data.payment, {
    requestId: sent.headers.get('request-id'),
    ...{ idempotencyKey, attempts, outcome: 'not_paid' },
  })
}
