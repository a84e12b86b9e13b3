import type { Context } from '../context.ts'
import { findSlot } from '../wallets/slots-store.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import type { Wallet, WalletSlot } from '../wallets/wallet.ts'
import type { Grant } from './grant.ts'

export interface GrantPlace {
  readonly wallet: Wallet
  readonly slot: WalletSlot
}

/** Returns the wallet of a grant, and the slot that the grant uses. */
export async function getWalletAndSlot(ctx: Pick<Context, 'db'>, grant: Grant): Promise<GrantPlace> {
  const { workspaceId, mode, walletAddress, slot: number } = grant
  const [wallet, slot] = await ctx.db.read([
    findWallet(workspaceId, mode, walletAddress),
    findSlot({ workspaceId, mode, address: walletAddress }, number),
  ])
  if (wallet === null || slot === null) throw new Error(`grant ${grant.id} has no wallet or slot`)
  return { wallet, slot }
}
