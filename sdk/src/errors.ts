import type { Payment } from './types.ts'

/**
 * What is known about the money after a call that pays has failed.
 *
 * - `not_paid`: this call paid nothing, and never will.
 * - `unknown`: the payment may exist. Call again with the same idempotency key, which never pays twice.
 */
export type Outcome = 'not_paid' | 'unknown'

/** What every error tells about the call that failed. */
export interface ErrorContext {
  readonly requestId: string | null
  readonly idempotencyKey: string | null
  readonly outcome: Outcome | null
  readonly attempts: number
}

/**
 * Gives a class of errors its name, even if a bundler has shortened the name of the class. `error.name` is on the
 * prototype, so that the stack of an error begins with it.
 */
export function nameErrors(errorClass: { readonly prototype: Error }, name: string): void {
  for (const named of [errorClass, errorClass.prototype]) {
    Object.defineProperty(named, 'name', { value: name, configurable: true })
  }
}

export const NO_CONTEXT: ErrorContext = { requestId: null, idempotencyKey: null, outcome: null, attempts: 0 }

/**
 * Every error that the client throws. Use `instanceof` with its subclasses to tell the errors apart.
 *
 * @example
 * ```ts
 * try {
 *   await bursar.payments.create(params)
 * } catch (error) {
 *   if (error instanceof BursarError && error.outcome === 'unknown') {
 *     // Store the key. Later, the same key finds the payment or makes it, but never pays twice.
 *     await store.set('unfinished', error.idempotencyKey)
 *   }
 * }
 * ```
 */
export class BursarError extends Error {
  static {
    nameErrors(this, 'BursarError')
  }
  /** The id of the last response, for the operator of the service. Null if no response arrived. */
  readonly requestId: string | null
  /** The idempotency key of the call, the same in all its attempts. Null if the call does not pay. */
  readonly idempotencyKey: string | null
  /** What is known about the money. Null if the call does not pay. */
  readonly outcome: Outcome | null
  /** The number of requests that were sent. */
  readonly attempts: number

  constructor(message: string, context: ErrorContext, options?: ErrorOptions) {
    super(message, options)
    this.requestId = context.requestId
    this.idempotencyKey = context.idempotencyKey
    this.outcome = context.outcome
    this.attempts = context.attempts
  }
}

/** No complete response arrived: the connection failed or was cut, or the response was not one of this API. */
export class ConnectionError extends BursarError {
  static {
    nameErrors(this, 'ConnectionError')
  }
}

/** No response arrived within `timeoutMs`, or a wait has ended before the payment was settled. */
export class TimeoutError extends BursarError {
  static {
    nameErrors(this, 'TimeoutError')
  }
}

/** The caller's signal was aborted. `cause` is the reason of the signal. */
export class AbortedError extends BursarError {
  static {
    nameErrors(this, 'AbortedError')
  }
}

/**
 * The idempotency key belongs to an earlier payment, which differs from this request. Nothing was paid now. Use a new
 * key for a new payment.
 */
export class IdempotencyMismatchError extends BursarError {
  static {
    nameErrors(this, 'IdempotencyMismatchError')
  }

  /** The members of the request that differ, such as `amount_usdc`. */
  readonly fields: readonly string[]
  /** The earlier payment. */
  readonly payment: Payment | null

  constructor(fields: readonly string[], payment: Payment | null, context: ErrorContext) {
    const names = fields.join(', ')
    super(`This idempotency key belongs to another payment, which differs in ${names}. Nothing was paid now.`, context)
    this.fields = fields
    this.payment = payment
  }
}
