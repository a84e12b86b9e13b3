import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listWalletSummaries } from './wallets-store.ts'
import { WALLETS_LISTED_MAX, type WalletSummary } from './wallet.ts'

/** The wallets of an (account, mode), the newest last; of more than 1,000 the newest ones. */
export async function listWallets(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<WalletSummary[]> {
  return await ctx.db.runSlow(listWalletSummaries(accountId, mode, WALLETS_LISTED_MAX))
}
