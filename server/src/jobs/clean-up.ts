import { giveBackLease } from '../db/leases.ts'
import { cleanUpConnections } from '../domain/connections/clean-up-connections.ts'
import type { Context } from '../domain/context.ts'
import { cleanUpRefusals } from '../domain/payments/refusals/clean-up-refusals.ts'
import { trimRefusals } from '../domain/payments/refusals/trim-refusals.ts'
import { cleanUpNewcomers } from '../domain/passkeys/clean-up-newcomers.ts'
import { cleanUpSessions } from '../domain/sessions/clean-up-sessions.ts'
import { renewLease } from './renew-lease.ts'
import { cleanUpWebhooks } from '../domain/webhooks/clean-up-webhooks.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { deleteEndedAttempts } from '../limiter/limiter-store.ts'

const INTERVAL_MS = 60_000
const LEASE_MS = 3 * INTERVAL_MS
const LEASE_NAME = 'clean-up'
const ATTEMPTS_PER_STEP = 10_000
/** Each step deletes 10,000 rows of a table at the most: more than strangers can write meanwhile. */
const STEPS_PER_ROUND_MAX = 50

type Step = (ctx: Context) => Promise<number>

const STEPS: readonly Step[] = [
  cleanUpSessions,
  cleanUpNewcomers,
  cleanUpConnections,
  cleanUpWebhooks,
  cleanUpRefusals,
  (ctx) => trimRefusals(ctx),
  (ctx) => ctx.db.runDurable(deleteEndedAttempts(ctx.clock.now(), ATTEMPTS_PER_STEP)),
]

/**
 * Deletes, in bounded steps, what has ended and is of no use any more: sessions, ceremonies, codes, tokens, connections
 * that were never used, people without a workspace, counters, deliveries, refusals.
 * A step that fails does not keep the others; the first failure is thrown in the end.
 */
export function cleanUp(ctx: Context, { holder }: { holder: string }): Loop {
  const loop = startLoop({ name: LEASE_NAME, intervalMs: INTERVAL_MS, logger: ctx.logger }, async (signal) => {
    const outcomes = await Promise.allSettled(STEPS.map((step) => repeat(ctx, { step, holder, signal })))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.runDurable(giveBackLease(LEASE_NAME, holder))
    },
  }
}

async function repeat(
  ctx: Context,
  { step, holder, signal }: { step: Step; holder: string; signal: AbortSignal },
): Promise<void> {
  for (let count = 0; count < STEPS_PER_ROUND_MAX && !signal.aborted; count += 1) {
    if (!(await renewLease(ctx, { name: LEASE_NAME, holder, leaseMs: LEASE_MS }))) return
    if ((await step(ctx)) === 0) return
  }
}
