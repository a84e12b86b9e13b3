import type { CoinBalance } from '../domain/wallets/read-coin-balance.ts'
import type { WalletSummary } from '../domain/wallets/wallet.ts'
import type { Address } from '../values/address.ts'
import { formatCoin } from '../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'

/**
 * A wallet as one person sees it. Without its balance the chain did not answer, or was not asked. `coin` is what the
 * wallet pays its gas with: null where the gas is sponsored, and in lists.
 */
export function formatWallet(
  wallet: WalletSummary,
  balances: ReadonlyMap<Address, MicroUsdc>,
  { userId, coin = null }: { userId: string; coin?: CoinBalance | null },
) {
  const { ownedBy } = wallet
  const balance = balances.get(wallet.address)
  return {
    address: wallet.address,
    mode: wallet.mode,
    name: wallet.name,
    created_at: wallet.createdAt.toISOString(),
    owner: {
      passkey_name: ownedBy?.passkeyName ?? null,
      user_name: ownedBy?.userName ?? null,
      is_mine: ownedBy?.userId === userId,
    },
    balance_usdc: balance === undefined ? null : formatAmount(balance),
    coin:
      coin === null
        ? null
        : { symbol: coin.coin, balance: coin.balanceWei === null ? null : formatCoin(coin.balanceWei) },
    grants: wallet.grants,
  }
}
