import type { Context } from '../domain/context.ts'
import { listOwnersByWallet } from '../domain/owners/queries.ts'
import { getWallet } from '../domain/wallets/queries.ts'
import { readBalances } from '../domain/wallets/read-balances.ts'
import { readCoinBalance } from '../domain/wallets/read-coin-balance.ts'
import type { Address } from '../values/address.ts'
import type { Mode } from '../values/mode.ts'
import type { Wallet } from './contract/wallets.ts'
import { formatWallet } from './format-wallet.ts'

/** Returns a wallet as the dashboard shows it on its own page. Throws 404 `wallet_not_found`. */
export async function showWallet(
  ctx: Context,
  { workspaceId, mode, address, userId }: { workspaceId: string; mode: Mode; address: Address; userId: string },
): Promise<Wallet> {
  const [wallet, owners] = await Promise.all([
    getWallet(ctx, { workspaceId, mode, address }),
    listOwnersByWallet(ctx, { workspaceId, mode, addresses: [address] }),
  ])
  const [balances, coin] = await Promise.all([
    readBalances(ctx, { mode, addresses: [address] }),
    readCoinBalance(ctx, { mode, address }),
  ])
  return formatWallet(wallet, balances, { userId, coin, owners: owners.get(address) ?? [] })
}
