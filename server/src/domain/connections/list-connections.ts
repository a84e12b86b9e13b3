import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { ConnectionSummary } from './connection.ts'
import { listConnectionRows } from './connections-store.ts'

/**
 * A workspace's connections that hold tokens, those of a mode or all, the newest first. Those of a member whose role does not allow connecting
 * now are among them: they would come back to life with the role.
 */
export async function listConnections(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode = null }: { accountId: string; mode?: Mode | null },
): Promise<ConnectionSummary[]> {
  return await ctx.db.runRelaxed(listConnectionRows({ accountId, mode, now: ctx.clock.now() }))
}
