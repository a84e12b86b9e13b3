import { giveBackLease, takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import { startLoop, type Loop } from '../lib/loop.ts'

export interface LeasedLoop {
  /** The lease's name, also the loop's in the log. */
  readonly name: string
  /** Identifies this process. */
  readonly holder: string
  readonly intervalMs: number
  /** How long other processes wait for a process that died. Longer than any step between two renewals. */
  readonly leaseMs: number
}

/** Extends the lease before the next step of a round. False: another process has it by now, and the round must end. */
export type RenewLease = () => Promise<boolean>

/**
 * Runs `round` every `intervalMs` in the one process that holds the lease; the other processes wait for it. A process
 * that stops gives the lease back, so the next one continues at once. The lease of a process that died runs out after
 * `leaseMs`.
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
