import { takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'

/** Takes or prolongs a lease from now on; false while another process has it. */
export async function renewLease(
  ctx: Pick<Context, 'db' | 'clock'>,
  { name, holder, leaseMs }: { name: string; holder: string; leaseMs: number },
): Promise<boolean> {
  const now = ctx.clock.now()
  return await ctx.db.runDurable(takeLease(name, holder, now, new Date(now.getTime() + leaseMs)))
}
