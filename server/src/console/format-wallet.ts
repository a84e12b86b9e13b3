import type { WalletSummary } from '../domain/wallets/wallet.ts'
import type { Address } from '../values/address.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'

/** A wallet as one person sees it. Without its balance the chain did not answer, or was not asked. */
export function formatWallet(wallet: WalletSummary, balances: ReadonlyMap<Address, MicroUsdc>, userId: string) {
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
    grants: wallet.grants,
  }
}
