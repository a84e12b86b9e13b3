import { OPERATOR } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { endOf, type AttemptOutcome, type ClaimedDelivery } from './delivery.ts'
import { decideNextStep } from './retry-schedule.ts'
import { FAILING_MS, HANGING_MS } from './endpoint.ts'
import { finishDelivery } from './queue-store.ts'

/** 410 Gone: the receiver asks never to be sent anything again (D45). */
const GONE = 410

/**
 * Records the outcome of an attempt, and the new status of its delivery (D45). The delivery succeeds, waits for its
 * next attempt, or fails permanently.
 *
 * Also records whether the endpoint hangs. A 410 response disables the endpoint. The endpoint is also disabled if a
 * delivery fails permanently and no attempt has succeeded for 5 days. A single failed attempt does not disable it, even
 * if the last success was long ago.
 *
 * A worker whose lease has expired records nothing. The next worker that claims the delivery records its own outcome.
 */
export async function finishAttempt(
  ctx: Pick<Context, 'db'>,
  { claimed, outcome }: { claimed: ClaimedDelivery; outcome: AttemptOutcome },
): Promise<void> {
  const { accountId, endpointId, mode } = claimed.delivery
  const step = decideNextStep(claimed.delivery, claimed.attemptNumber, outcome)
  const endedAt = endOf(outcome)
  const failingSinceMax = new Date(endedAt.getTime() - FAILING_MS)
  const isGone = outcome.statusCode === GONE
  const hangs = outcome.error === 'timeout' || outcome.durationMs >= HANGING_MS
  const finish = finishDelivery(claimed, outcome, { step, endedAt, isGone, hangs, failingSinceMax })
  if (step.status === 'succeeded') {
    await ctx.db.runDurable(finish)
    return
  }
  await ctx.db.transaction(async (transaction) => {
    const disabledBecause = await transaction.run(finish)
    if (disabledBecause === null) return
    const entry = { logId: accountId, createdAt: endedAt, actor: OPERATOR, action: 'webhook.disabled' } as const
    const details = { mode, because: disabledBecause }
    await transaction.commit([insertAuditEntry({ ...entry, subject: endpointId, details })])
  })
}
