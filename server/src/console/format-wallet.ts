import type { CoinBalance } from '../domain/wallets/read-coin-balance.ts'
import type { WalletSummary } from '../domain/wallets/wallet.ts'
import type { Address } from '../values/address.ts'
import { formatCoin } from '../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'
import type { Wallet } from './contract/wallets.ts'

/**
 * A wallet as the dashboard shows it to one person. A wallet that is missing in `balances` is shown without a balance: the
 * chain could not be read. `coin` is what the wallet pays its gas with; null where the gas is sponsored, and in lists.
 */
export function formatWallet(
  wallet: WalletSummary,
  balances: ReadonlyMap<Address, MicroUsdc>,
  { userId, coin = null }: { userId: string; coin?: CoinBalance | null },
): Wallet {
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
