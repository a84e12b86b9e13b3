import { cleanUpConnectionErrors } from '../domain/connection-errors/clean-up-connection-errors.ts'
import { cleanUpConnections } from '../domain/connections/clean-up-connections.ts'
import type { Context } from '../domain/context.ts'
import { cleanUpRefusals } from '../domain/refusals/clean-up-refusals.ts'
import { trimRefusals } from '../domain/refusals/trim-refusals.ts'
import { cleanUpOwnerRequests } from '../domain/owners/clean-up-owner-requests.ts'
import { cleanUpPurchases } from '../domain/purchases/clean-up-purchases.ts'
import { cleanUpNewcomers } from '../domain/passkeys/clean-up-newcomers.ts'
import { cleanUpSessions } from '../domain/sessions/clean-up-sessions.ts'
import { cleanUpWebhooks } from '../domain/webhooks/clean-up-webhooks.ts'
import type { Loop } from '../lib/loop.ts'
import { deleteEndedAttempts } from '../limiter/limiter-store.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 60_000
const LEASE_MS = 3 * INTERVAL_MS
const ATTEMPTS_PER_STEP = 10_000
/**
 * How many times a step may run in one round. Each run deletes at most 10,000 rows of a table. All runs together can
 * delete more rows than unknown callers can add between two rounds.
 */
const STEPS_PER_ROUND_MAX = 50

type Step = (ctx: Context) => Promise<number>

const STEPS: readonly Step[] = [
  cleanUpSessions,
  cleanUpNewcomers,
  cleanUpConnections,
  cleanUpConnectionErrors,
  cleanUpWebhooks,
  cleanUpRefusals,
  cleanUpOwnerRequests,
  cleanUpPurchases,
  (ctx) => trimRefusals(ctx),
  (ctx) => ctx.db.runDurable(deleteEndedAttempts(ctx.clock.now(), ATTEMPTS_PER_STEP)),
]

/**
 * Deletes rows that have ended and are no longer needed, in bounded steps: sessions, ceremonies, codes, tokens,
 * connections that were never used, old errors of connections, users without a workspace, counters, deliveries,
 * refusals, sellers' answers and requests that owners were asked to sign. The steps run one after the other, so that
 * they need one database connection. If a step fails, the others still run, and the first error is thrown at the end.
 */
export function cleanUp(ctx: Context, { holder }: { holder: string }): Loop {
  const options = { name: 'clean-up', holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const errors: unknown[] = []
    for (const step of STEPS) {
      await repeat(ctx, { step, renewLease, signal }).catch((error: unknown) => errors.push(error))
    }
    if (errors.length > 0) throw errors[0]
  })
}

async function repeat(
  ctx: Context,
  { step, renewLease, signal }: { step: Step; renewLease: RenewLease; signal: AbortSignal },
): Promise<void> {
  for (let count = 0; count < STEPS_PER_ROUND_MAX && !signal.aborted; count += 1) {
    if (!(await renewLease())) return
    if ((await step(ctx)) === 0) return
  }
}
