import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findWalletSummary } from './wallets-store.ts'
import type { WalletSummary } from './wallet.ts'

/** A wallet of the (account, mode), or 404 `wallet_not_found`. */
export async function getWallet(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, address }: { accountId: string; mode: Mode; address: Address },
): Promise<WalletSummary> {
  const wallet = await ctx.db.runRelaxed(findWalletSummary(accountId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  return wallet
}
