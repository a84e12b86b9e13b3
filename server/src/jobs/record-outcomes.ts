import type { Context } from '../domain/context.ts'
import type { AttemptOutcome, ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { finishAttempt } from '../domain/webhooks/finish-attempt.ts'
import { finishAttempts } from '../domain/webhooks/finish-attempts.ts'

/** How many outcomes one transaction records. Each may have a response body of 16 KiB. */
const BATCH_MAX = 100
/**
 * How many batches are recorded at the same time. More than one, so that a batch that waits for a locked row does not
 * hold up the others.
 */
const BATCHES_AT_ONCE_MAX = 4
/** While fewer than `BATCHES_AT_ONCE_MAX` batches are in progress, new outcomes wait for them at most this long. */
const BATCH_WAIT_MS_MAX = 20

export interface AttemptToRecord {
  /** Returns the claim that is valid when the outcome is written. */
  readonly latest: () => ClaimedDelivery
  readonly outcome: AttemptOutcome
}

interface Waiting extends AttemptToRecord {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Records the outcomes of attempts. */
export interface OutcomeRecorder {
  /**
   * Records an outcome, together with others that are waiting. If its batch fails, the calls of all outcomes in it
   * throw.
   */
  record(attempt: AttemptToRecord): Promise<void>
  /** Records an outcome separately. */
  recordAlone(attempt: AttemptToRecord): Promise<void>
}

/**
 * Creates a recorder. It records the outcomes that arrive in one turn of the event loop as one batch. Outcomes that
 * arrive while a batch is being recorded form the next batch. So the busier the sender is, the larger are its batches,
 * and a single outcome does not wait.
 */
export function createOutcomeRecorder(ctx: Pick<Context, 'db'>): OutcomeRecorder {
  let waiting: Waiting[] = []
  let underWay = 0
  let immediate: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearImmediate(immediate)
    clearTimeout(timer)
    immediate = undefined
    timer = undefined
    const batch = waiting.slice(0, BATCH_MAX)
    waiting = waiting.slice(BATCH_MAX)
    underWay += 1
    void settle(ctx, batch).then(() => {
      underWay -= 1
      schedule()
    })
    schedule()
  }

  /** Must be called after each change of `waiting` and `underWay`. */
  const schedule = (): void => {
    if (waiting.length === 0 || underWay >= BATCHES_AT_ONCE_MAX) return
    if (underWay === 0) immediate ??= setImmediate(flush)
    else timer ??= setTimeout(flush, BATCH_WAIT_MS_MAX)
  }

  return {
    async record(attempt) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ ...attempt, resolve, reject })
      schedule()
      await promise
    },
    async recordAlone({ latest, outcome }) {
      await finishAttempt(ctx, { claimed: latest(), outcome })
    },
  }
}

/** Records a batch, and tells each of its callers the result. Never rejects. */
async function settle(ctx: Pick<Context, 'db'>, batch: readonly Waiting[]): Promise<void> {
  try {
    await finishAttempts(
      ctx,
      batch.map(({ latest, outcome }) => ({ claimed: latest(), outcome })),
    )
    for (const { resolve } of batch) resolve()
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
