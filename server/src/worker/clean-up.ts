import { cleanUpConnections } from '../domain/connections/clean-up-connections.ts'
import type { Context } from '../domain/context.ts'
import { cleanUpPeople } from '../domain/people/clean-up-people.ts'
import { takeLeaseNow } from '../domain/take-lease-now.ts'
import { giveBackLease } from '../db/leases.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { deleteEndedAttempts } from '../limiter/store.ts'

const INTERVAL_MS = 60_000
const LEASE_MS = 3 * INTERVAL_MS
const LEASE_NAME = 'clean-up'
const ATTEMPTS_PER_ROUND = 10_000

/** Deletes, in bounded rounds, what has ended and is of no use any more: sessions, ceremonies, codes, tokens, counters. */
export function cleanUp(ctx: Context, { holder }: { holder: string }): Loop {
  const loop = startLoop({ name: LEASE_NAME, intervalMs: INTERVAL_MS, logger: ctx.logger }, async () => {
    if (!(await takeLeaseNow(ctx, { name: LEASE_NAME, holder, leaseMs: LEASE_MS }))) return
    await cleanUpPeople(ctx)
    await cleanUpConnections(ctx)
    await ctx.db.write(deleteEndedAttempts(ctx.clock.now(), ATTEMPTS_PER_ROUND))
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(giveBackLease(LEASE_NAME, holder))
    },
  }
}
