import { Batcher, type BatchedWork } from '../db/batcher.ts'
import type { Context } from '../domain/context.ts'
import type { AttemptOutcome, ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { finishAttempts } from '../domain/webhooks/finish-attempts.ts'

/**
 * How many batches are recorded at the same time. More than one, so that a batch that waits for a locked row does not
 * hold up the others.
 */
const BATCHES_AT_ONCE_MAX = 2

export interface AttemptToRecord {
  /** Returns the claim that is valid when the outcome is written. */
  readonly latest: () => ClaimedDelivery
  readonly outcome: AttemptOutcome
}

/** Records the outcomes of attempts. */
export interface OutcomeRecorder {
  /**
   * Records an outcome, together with others that arrive in the same turn of the event loop or wait. If their
   * transaction is rejected, each of them is recorded alone.
   */
  record(attempt: AttemptToRecord): Promise<void>
}

export function createOutcomeRecorder(ctx: Pick<Context, 'db'>): OutcomeRecorder {
  const batcher = new Batcher(Array.from({ length: BATCHES_AT_ONCE_MAX }, () => ctx))
  return {
    async record(attempt) {
      await batcher.run(OUTCOMES, attempt)
    },
  }
}

const OUTCOMES: BatchedWork<Pick<Context, 'db'>, AttemptToRecord, null> = {
  keyOf: () => null,
  async run(ctx, attempts) {
    await finishAttempts(
      ctx,
      attempts.map(({ latest, outcome }) => ({ claimed: latest(), outcome })),
    )
    return attempts.map(() => null)
  },
}
