import type { WalletSigner } from '../../enclave/signer-change.ts'
import { findSigner } from '../agents/agents-store.ts'
import type { Context } from '../context.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { Grant } from './grant.ts'

/** Returns the wallet of a grant, and the grant's signer with its policy. */
export async function getWalletAndSigner(
  ctx: Pick<Context, 'db'>,
  grant: Grant,
): Promise<{ wallet: Wallet; grantSigner: WalletSigner }> {
  const [signer, wallet] = await ctx.db.runRelaxedPair(
    findSigner(grant.accountId, grant.mode, grant.agentId),
    findWallet(grant.accountId, grant.mode, grant.walletAddress),
  )
  if (wallet === null || signer === null || signer.signerId === null) {
    throw new Error(`grant ${grant.id} has no wallet or signer`)
  }
  return { wallet, grantSigner: { signerId: signer.signerId, policyIds: [grant.enclavePolicyId] } }
}
