import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { StopScope } from '../grants/stopped-grants-store.ts'
import { listWalletOwners } from '../wallets/wallet-owners-store.ts'
import { groupByPasskey, type PasskeyGroup } from './passkey-groups.ts'
import type { StopInForce, StopPreview } from './stop.ts'
import { countStoppable, countUnderWay, listStopsInForce } from './stops-store.ts'

/** Says in numbers what a stop would stop now, and how many payments are already under way. */
export async function previewStop(
  ctx: Pick<Context, 'db' | 'clock'>,
  scope: StopScope & { readonly workspaceId: string; readonly mode: Mode },
): Promise<StopPreview> {
  const queries = [countStoppable(scope, ctx.clock.now()), countUnderWay(scope)] as const
  const [counts, pendingPayments] = await ctx.db.readSlow(queries, scope.workspaceId)
  return { ...counts, pendingPayments }
}

export interface ListedStop extends StopInForce {
  readonly groups: readonly PasskeyGroup[]
}

/** Lists the stops in force, the newest first, each with the signatures that resume it, for this user. */
export async function listStops(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, userId }: { workspaceId: string; mode: Mode; userId: string },
): Promise<ListedStop[]> {
  const stops = await ctx.db.readSlow(listStopsInForce({ workspaceId, mode }, ctx.clock.now()), workspaceId)
  if (stops.length === 0) return []
  const addresses = [...new Set(stops.flatMap(({ wallets }) => wallets.map(({ address }) => address)))]
  const owners = await ctx.db.readSlow(listWalletOwners(workspaceId, mode, addresses), workspaceId)
  const byWallet = Map.groupBy(owners, ({ walletAddress }) => walletAddress)
  return stops.map((stop) => ({ ...stop, groups: groupByPasskey(stop.wallets, byWallet, userId) }))
}
