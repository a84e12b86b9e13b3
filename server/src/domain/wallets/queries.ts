import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { WALLETS_LISTED_MAX, type WalletSummary } from './wallet.ts'
import { countWalletsByOwner, findWalletSummary, listWalletSummaries } from './wallets-store.ts'

/** Returns a wallet of the (account, mode), or throws 404 `wallet_not_found`. */
export async function getWallet(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, address }: { accountId: string; mode: Mode; address: Address },
): Promise<WalletSummary> {
  const wallet = await ctx.db.runRelaxed(findWalletSummary(accountId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  return wallet
}

/** Lists the wallets of the (account, mode), newest last. If there are more than 1,000, the newest 1,000. */
export async function listWallets(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<WalletSummary[]> {
  return await ctx.db.runSlow(listWalletSummaries(accountId, mode, WALLETS_LISTED_MAX))
}

/**
 * Returns how many wallets each of a user's passkeys owns, in the workspaces that the user belongs to. Passkeys without
 * wallets are left out.
 */
export async function countOwnedWallets(
  ctx: Pick<Context, 'db'>,
  { userId }: { userId: string },
): Promise<ReadonlyMap<string, number>> {
  return new Map(await ctx.db.runRelaxed(countWalletsByOwner(userId)))
}
