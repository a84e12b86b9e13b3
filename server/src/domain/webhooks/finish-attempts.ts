import type { Query } from '../../db/query.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { endOf, type AttemptOutcome, type ClaimedDelivery } from './delivery.ts'
import { decideNextStep } from './retry-schedule.ts'
import { FAILING_MS, HANGING_MS, type DisabledBecause } from './endpoint.ts'
import { countResponses, finishDelivery, finishSuccesses, UNCOUNTED_BYTES_MAX } from './outcomes-store.ts'
import { COMMIT_RELAXED } from './queue-store.ts'

/** 410 Gone: the receiver asks never to be sent anything again (D45). */
const GONE = 410

export interface EndedAttempt {
  readonly claimed: ClaimedDelivery
  readonly outcome: AttemptOutcome
}

/**
 * Records the outcomes of attempts in one transaction, and the new status of each delivery (D45). A delivery succeeds,
 * waits for its next attempt, or fails permanently. The attempts to one endpoint are recorded in the given order.
 *
 * Also records whether the endpoint hangs. A 410 response disables the endpoint. The endpoint is also disabled if a
 * delivery fails permanently and no attempt has succeeded for 5 days. A single failed attempt does not disable it, even
 * if the last success was long ago.
 *
 * A worker whose lease has expired records nothing. The next worker that claims the delivery records its own outcome.
 *
 * A long response counts in the workspace's budget for them (D93).
 *
 * The commit waits for the disk only if an endpoint was disabled (0038). If a power failure undoes it, the attempts are
 * made again.
 */
export async function finishAttempts(ctx: Pick<Context, 'db'>, attempts: readonly EndedAttempt[]): Promise<void> {
  // All transactions lock endpoints in the same order, so that they cannot cause a deadlock.
  const sorted = attempts.map(toFinish).toSorted((left, right) => compare(keyOf(left), keyOf(right)))
  const long = sorted.filter(({ outcome }) => (outcome.responseBody?.length ?? 0) > UNCOUNTED_BYTES_MAX)
  const counts = long.length === 0 ? [] : [countResponses(long.map(({ claimed }) => claimed))]
  await ctx.db.transaction(async (transaction) => {
    // Usually all these attempts have succeeded. A success disables no endpoint, so one statement for all is enough.
    if (sorted.every(({ step }) => step.status === 'succeeded')) {
      await transaction.commit([COMMIT_RELAXED, finishSuccesses(sorted), ...counts])
      return
    }
    const causes = await transaction.batch(sorted.map((one) => finishDelivery(one.claimed, one.outcome, one)))
    const entries = sorted.flatMap((ended, index) => toAuditEntry(ended, causes[index] ?? null))
    await transaction.commit([...(entries.length === 0 ? [COMMIT_RELAXED] : entries), ...counts])
  })
}

function toFinish({ claimed, outcome }: EndedAttempt) {
  const endedAt = endOf(outcome)
  return {
    claimed,
    outcome,
    step: decideNextStep(claimed.delivery, claimed.attemptNumber, outcome),
    endedAt,
    isGone: outcome.statusCode === GONE,
    hangs: outcome.error === 'timeout' || outcome.durationMs >= HANGING_MS,
    failingSinceMax: new Date(endedAt.getTime() - FAILING_MS),
  }
}

/** If an attempt disabled its endpoint, returns the query that records this in the audit log. */
function toAuditEntry({ claimed, outcome }: EndedAttempt, because: DisabledBecause | null): Query<unknown>[] {
  if (because === null) return []
  const { workspaceId: logId, endpointId: subject, mode } = claimed.delivery
  const entry = { logId, createdAt: endOf(outcome), actor: OPERATOR, action: 'webhook.disabled' } as const
  return [insertAuditEntry({ ...entry, subject, details: { mode, because } })]
}

function keyOf({ claimed: { delivery } }: EndedAttempt): string {
  return `${delivery.workspaceId} ${delivery.endpointId}`
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}
