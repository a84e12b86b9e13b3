import { giveBackLease, takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import { startLoop, type Loop } from '../lib/loop.ts'

export interface LeasedLoop {
  /** The name of the lease, and of the loop in the log. */
  readonly name: string
  /** Identifies this process. */
  readonly holder: string
  readonly intervalMs: number
  /**
   * How long the lease is valid. If the process that has the lease dies, the other processes wait this long. The time
   * must be longer than any step between two renewals.
   */
  readonly leaseMs: number
}

/**
 * Extends the lease before the next step of a round. Returns false if another process has taken the lease; the round
 * must then end.
 */
export type RenewLease = () => Promise<boolean>

/**
 * Runs `round` every `intervalMs` in the one process that has the lease. The other processes wait until they can take
 * the lease. A process releases the lease when it stops, so another process continues at once. If a process dies, its
 * lease expires after `leaseMs`.
 */
export function startLeasedLoop(
  ctx: Context,
  { name, holder, intervalMs, leaseMs }: LeasedLoop,
  round: (signal: AbortSignal, renewLease: RenewLease) => Promise<void>,
): Loop {
  const renewLease: RenewLease = async () => {
    const now = ctx.clock.now()
    return await ctx.db.runDurable(takeLease(name, holder, now, new Date(now.getTime() + leaseMs)))
  }
  const loop = startLoop({ name, intervalMs, logger: ctx.logger }, async (signal) => {
    if (await renewLease()) await round(signal, renewLease)
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.runDurable(giveBackLease(name, holder))
    },
  }
}
