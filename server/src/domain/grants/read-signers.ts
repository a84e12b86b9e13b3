import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { changedSigners, sameSigners, type Grant, type GrantAction, type WalletSigner } from './grant.ts'
import { listOtherPolicies } from './grants-store.ts'

/** The wallet's signers as the enclave lists them, and as they are to be. */
export async function readSigners(
  ctx: Pick<Context, 'db' | 'enclave'>,
  {
    grant,
    wallet,
    grantSigner,
    change,
  }: { grant: Grant; wallet: Wallet; grantSigner: WalletSigner; change: GrantAction },
): Promise<{ before: readonly WalletSigner[]; after: readonly WalletSigner[]; isDone: boolean }> {
  const [others, { signers: before }] = await Promise.all([
    ctx.db.runRelaxed(listOtherPolicies(grant)),
    ctx.enclave.readWallet(wallet.enclaveWalletId),
  ])
  const after = changedSigners(before, { signer: grantSigner, change, others })
  return { before, after, isDone: sameSigners(before, after) }
}
