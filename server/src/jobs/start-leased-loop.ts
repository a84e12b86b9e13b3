import { releaseLease, takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import { readProcessMs } from '../lib/clock.ts'
import { startLoop, type Loop } from '../lib/loop.ts'

export interface LeasedLoop {
  /** The name of the lease, and of the loop in the log. */
  readonly name: string
  /** Identifies this process. */
  readonly holder: string
  readonly intervalMs: number
  /**
   * How long the lease is valid. If the process that has the lease dies, the other processes wait this long. A round
   * may begin when a fifth of this time has passed (`RENEWALS_PER_LEASE`). The rest must be longer than any step
   * between two renewals.
   */
  readonly leaseMs: number
  /** What a process does instead of a round while another one has the lease. */
  readonly otherwise?: () => Promise<void>
}

/**
 * Extends the lease before the next step of a round. Returns false if another process has taken the lease; the round
 * must then end.
 */
export type RenewLease = () => Promise<boolean>

/**
 * How often the lease is renewed while it lasts. Renewing is a write, so a loop with a short interval does not renew its
 * lease in every round.
 */
const RENEWALS_PER_LEASE = 5

/**
 * Runs `round` every `intervalMs` in the one process that has the lease. The other processes wait until they can take
 * the lease. A process releases the lease when it stops, so another process continues at once. If a process dies, its
 * lease expires after `leaseMs` at most.
 */
export function startLeasedLoop(
  ctx: Pick<Context, 'db' | 'clock' | 'logger' | 'measurements'>,
  { name, holder, intervalMs, leaseMs, otherwise }: LeasedLoop,
  round: (signal: AbortSignal, renewLease: RenewLease) => Promise<void>,
): Loop {
  /** When our lease was last renewed; null if we do not know that we have it. */
  let renewedAt: Date | null = null
  const renewLease: RenewLease = async () => {
    renewedAt = null
    const now = ctx.clock.now()
    const lease = takeLease(name, holder, now, new Date(now.getTime() + leaseMs))
    // If the database's server loses power and forgets the lease, two processes may work on one round, as they may after
    // a process was stopped for longer than its lease. The loops begin their rounds together, and share a connection.
    const isOurs = await ctx.db.write(lease, { mayBeLost: true })
    if (isOurs) renewedAt = now
    ctx.measurements.leaseChanged(name, isOurs)
    return isOurs
  }
  /**
   * If our clock was moved back to before the last renewal, other processes may ignore our lease, so it does not count
   * as fresh.
   */
  const isFresh = (): boolean => {
    if (renewedAt === null) return false
    const ageMs = ctx.clock.now().getTime() - renewedAt.getTime()
    return ageMs >= 0 && ageMs < leaseMs / RENEWALS_PER_LEASE
  }
  const loop = startLoop({ name, intervalMs, logger: ctx.logger }, async (signal) => {
    if (!isFresh() && !(await renewLease())) return await otherwise?.()
    const start = readProcessMs()
    const trace = ctx.measurements.startTrace(0)
    const ended = (outcome: 'ok' | 'failed'): void =>
      ctx.measurements.roundEnded(name, outcome, readProcessMs() - start, trace)
    try {
      await (trace === null ? round(signal, renewLease) : trace.run(() => round(signal, renewLease)))
    } catch (error) {
      ended('failed')
      throw error
    }
    ended('ok')
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(releaseLease(name, holder), { mayBeLost: true })
      ctx.measurements.leaseChanged(name, false)
    },
  }
}
