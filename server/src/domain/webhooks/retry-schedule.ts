import { endOf, isSuccess, type AttemptOutcome, type Delivery } from './delivery.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The delay between the end of an attempt and the next attempt (specification, part 6). */
export const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS] as const
export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1

/** The status of a delivery after an attempt, and when it is tried again. */
export type NextStep =
  | { readonly status: 'succeeded' | 'failed'; readonly nextAttemptAt: null }
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }

/**
 * Decides what happens to a delivery after an attempt. A delivery created by its event is tried six times; a delivery
 * that a user asked for is tried once.
 */
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
