import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { WALLETS_LISTED_MAX, type WalletSummary } from './wallet.ts'
import { countWalletsByOwner, findWalletSummary, listWalletSummaries } from './wallets-store.ts'

/** A wallet of the (account, mode), or 404 `wallet_not_found`. */
export async function getWallet(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, address }: { accountId: string; mode: Mode; address: Address },
): Promise<WalletSummary> {
  const wallet = await ctx.db.runRelaxed(findWalletSummary(accountId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  return wallet
}

/** The wallets of an (account, mode), the newest last; of more than 1,000 the newest ones. */
export async function listWallets(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<WalletSummary[]> {
  return await ctx.db.runSlow(listWalletSummaries(accountId, mode, WALLETS_LISTED_MAX))
}

/** How many wallets of the workspaces that a person belongs to are owned by which of their passkeys; those with none lack. */
export async function countOwnedWallets(
  ctx: Pick<Context, 'db'>,
  { userId }: { userId: string },
): Promise<ReadonlyMap<string, number>> {
  return new Map(await ctx.db.runRelaxed(countWalletsByOwner(userId)))
}
