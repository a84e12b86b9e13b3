import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { HostSpend } from './host-spend.ts'
import { sumSpendByHost } from './purchase-sums-store.ts'

const HOUR_MS = 60 * 60 * 1_000
/** The sums cover this much time, up to now. They begin at a full hour, so they may cover almost an hour more. */
const HOST_SPEND_MS = 30 * 24 * HOUR_MS
/** How many hosts are shown separately: those on which most was spent. All others are added up. */
export const HOSTS_SHOWN_MAX = 8

/**
 * Returns what the agents of a workspace and mode spent on each host in the last 30 days, the highest sum first. The
 * group of all other hosts comes last. Failed purchases do not count. The sums are exact to the micro-USDC: for hours
 * that are summed, their sums are read. All other purchases are read one by one.
 */
export async function getSpendByHost(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
): Promise<{ readonly since: Date; readonly hosts: readonly HostSpend[] }> {
  const since = new Date(Math.floor((ctx.clock.now().getTime() - HOST_SPEND_MS) / HOUR_MS) * HOUR_MS)
  const query = sumSpendByHost({ workspaceId, mode }, { since, hostsMax: HOSTS_SHOWN_MAX })
  return { since, hosts: await ctx.db.readSlow(query, workspaceId) }
}
