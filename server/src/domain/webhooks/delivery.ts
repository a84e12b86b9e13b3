import type { Mode } from '../../values/mode.ts'
import type { EventType } from '../events/event.ts'

/** What made a delivery: the event itself, or a person. What a person asked for is tried once. */
export const DELIVERY_TRIGGERS = ['event', 'replay', 'test'] as const
export type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number]

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/**
 * One event on its way to one endpoint. `pending` until an attempt is answered 2xx (`succeeded`), the last one has failed
 * (`failed`), or the endpoint is deleted (`canceled`). While the endpoint is disabled it stays `pending`, and waits.
 */
export interface Delivery {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly endpointId: string
  readonly eventId: string
  readonly eventType: EventType
  readonly trigger: DeliveryTrigger
  readonly status: DeliveryStatus
  /** How many have ended. */
  readonly attempts: number
  /** Null once it is not pending. */
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

/** Why an attempt has no good answer. */
export const ATTEMPT_ERRORS = [
  'timeout',
  'dns_error',
  'connection_refused',
  'connection_reset',
  'tls_error',
  'blocked_address',
  'redirect',
  'http_error',
  'invalid_response',
] as const

export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

export interface AttemptOutcome {
  readonly startedAt: Date
  readonly durationMs: number
  /** Null where none arrived. */
  readonly statusCode: number | null
  readonly error: AttemptError | null
  /** The first bytes of the answer, 16 KiB at the most. */
  readonly responseBody: Buffer | null
}

export interface DeliveryAttempt extends AttemptOutcome {
  /** From 1. */
  readonly number: number
}

/** A delivery that one worker holds until `leasedUntil`, with all that its attempt needs. */
export interface ClaimedDelivery {
  readonly delivery: Delivery
  readonly leasedUntil: Date
  readonly url: string
  /** The current one first; then, while a rotation overlaps, the previous one. */
  readonly secrets: readonly string[]
  /** The envelope (D42): these bytes are signed and sent, the same at each attempt. */
  readonly body: string
  readonly attemptNumber: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** From the end of one attempt to the next (specification, part 6). */
export const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS] as const
export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1
/** The whole of an attempt: name resolution, connection, headers, body. */
export const ATTEMPT_MS = 10_000
/** How long a worker holds a delivery; when it dies, another one takes over after that. */
export const LEASE_MS = 30_000

/** What a delivery becomes by an attempt. */
export type NextStep =
  | { readonly status: 'succeeded' | 'failed'; readonly nextAttemptAt: null }
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }

const DELIVERY_ID_PATTERN = /^dlv_[0-9A-HJKMNP-TV-Z]{26}(?:_[0-9A-HJKMNP-TV-Z]{26})?$/

/** Whether a text from outside can be a delivery's id. */
export function isDeliveryId(text: string): boolean {
  return DELIVERY_ID_PATTERN.test(text)
}

/** Any 2xx that arrived whole is a success; nothing else is (D45). */
export function isSuccess({ statusCode, error }: Pick<AttemptOutcome, 'statusCode' | 'error'>): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode <= 299
}

export function endOf({ startedAt, durationMs }: Pick<AttemptOutcome, 'startedAt' | 'durationMs'>): Date {
  return new Date(startedAt.getTime() + durationMs)
}

/** The schedule: what was made by its event is tried six times, what a person asked for once. */
export function decideNextStep(
  { trigger }: Pick<Delivery, 'trigger'>,
  attemptNumber: number,
  outcome: AttemptOutcome,
): NextStep {
  if (isSuccess(outcome)) return { status: 'succeeded', nextAttemptAt: null }
  const delayMs = trigger === 'event' ? RETRY_DELAYS_MS[attemptNumber - 1] : undefined
  if (delayMs === undefined) return { status: 'failed', nextAttemptAt: null }
  return { status: 'pending', nextAttemptAt: new Date(endOf(outcome).getTime() + delayMs) }
}
