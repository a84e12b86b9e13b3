import type { Context } from '../context.ts'
import { countWalletsByOwner } from './wallets-store.ts'

/** How many wallets of the workspaces that a person belongs to are owned by which of their passkeys; those with none lack. */
export async function countOwnedWallets(
  ctx: Pick<Context, 'db'>,
  { userId }: { userId: string },
): Promise<ReadonlyMap<string, number>> {
  return new Map(await ctx.db.runRelaxed(countWalletsByOwner(userId)))
}
