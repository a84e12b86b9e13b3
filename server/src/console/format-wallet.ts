import type { WalletOwner } from '../domain/wallets/wallet-owners-store.ts'
import type { CoinBalance } from '../domain/wallets/read-coin-balance.ts'
import type { WalletSummary } from '../domain/wallets/wallet.ts'
import type { Address } from '../values/address.ts'
import { formatCoin } from '../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'
import type { Wallet, WalletOwner as WalletOwnerView } from './contract/wallets.ts'

/**
 * Formats a wallet as the dashboard shows it to one person. If `balances` has no entry for the wallet, the chain could
 * not be read, and the wallet is shown without a balance. `coin` is the wallet's balance of native coin. It is null in
 * lists, and if the wallet's gas is sponsored.
 */
export function formatWallet(
  wallet: WalletSummary,
  balances: ReadonlyMap<Address, MicroUsdc>,
  { userId, owners, coin = null }: { userId: string; owners: readonly WalletOwner[]; coin?: CoinBalance | null },
): Wallet {
  const balance = balances.get(wallet.address)
  return {
    address: wallet.address,
    mode: wallet.mode,
    name: wallet.name,
    created_at: wallet.createdAt.toISOString(),
    owners: owners.map((owner) => formatOwner(owner, userId)),
    is_at_risk: wallet.mode === 'live' && owners.length < 2,
    balance_usdc: balance === undefined ? null : formatAmount(balance),
    coin:
      coin === null
        ? null
        : { symbol: coin.coin, balance: coin.balanceWei === null ? null : formatCoin(coin.balanceWei) },
    grants: wallet.grants,
  }
}

function formatOwner(owner: WalletOwner, userId: string): WalletOwnerView {
  return {
    credential_id: owner.credentialId,
    name: owner.name,
    user_name: owner.userName,
    is_member: owner.isMember,
    is_mine: owner.userId === userId,
    has_record: owner.hasRecord,
    added_at: owner.addedAt.toISOString(),
  }
}
