import type { Mode } from '../../values/mode.ts'
import type { EventType } from '../events/event.ts'

/** One call of `replayRange` replays at most this many events, oldest first. */
export const REPLAYS_MAX = 10_000

/**
 * Why a delivery was created: by its event, or because a user asked for a replay or a test. A delivery that a user
 * asked for is tried only once.
 */
export const DELIVERY_TRIGGERS = ['event', 'replay', 'test'] as const
export type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number]

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/**
 * The delivery of one event to one endpoint. It is `pending` until an attempt gets a 2xx response (`succeeded`) or the
 * last attempt has failed (`failed`). While the endpoint is disabled, the delivery waits as `pending`. If it has waited
 * for 30 days, or if the endpoint is deleted, it is `canceled`.
 */
export interface Delivery {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly endpointId: string
  readonly eventId: string
  readonly eventType: EventType
  readonly trigger: DeliveryTrigger
  readonly status: DeliveryStatus
  /** The number of attempts that have ended. */
  readonly attempts: number
  /** Null unless the delivery is pending. */
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

/** Why an attempt did not succeed. */
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
  /** Null if no response arrived. */
  readonly statusCode: number | null
  readonly error: AttemptError | null
  /** The first bytes of the response, at most 16 KiB. */
  readonly responseBody: Buffer | null
}

export interface DeliveryAttempt extends AttemptOutcome {
  /** The first attempt has the number 1. */
  readonly number: number
}

/** A delivery that one worker has leased until `leasedUntil`, with everything that its attempt needs. */
export interface ClaimedDelivery {
  readonly delivery: Delivery
  /**
   * In whose share of the sender the attempt counts (D91): the person who created the workspace, or the workspace itself
   * if the operator did.
   */
  readonly holder: string
  readonly leasedUntil: Date
  readonly url: string
  /** The current secret. For 24 hours after a rotation, it is followed by the previous one. */
  readonly secrets: readonly string[]
  /** The event's envelope (D42). Exactly these bytes are signed and sent at every attempt. */
  readonly body: string
  readonly attemptNumber: number
}

/** The time limit of a whole attempt: name resolution, connection, headers and body. */
export const ATTEMPT_TIMEOUT_MS = 10_000
/** How long a worker leases a delivery. If the worker dies, another worker can claim the delivery after this time. */
export const LEASE_MS = 30_000

const DELIVERY_ID_PATTERN = /^dlv_[0-9A-HJKMNP-TV-Z]{26}(?:_[0-9A-HJKMNP-TV-Z]{26})?$/

/** Returns whether a text from outside can be the id of a delivery. */
export function isDeliveryId(text: string): boolean {
  return DELIVERY_ID_PATTERN.test(text)
}

/** Only a complete 2xx response is a success (D45). */
export function isSuccess({ statusCode, error }: Pick<AttemptOutcome, 'statusCode' | 'error'>): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode <= 299
}

export function endOf({ startedAt, durationMs }: Pick<AttemptOutcome, 'startedAt' | 'durationMs'>): Date {
  return new Date(startedAt.getTime() + durationMs)
}
