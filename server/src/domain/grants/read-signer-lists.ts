import type { WalletSigner } from '../../enclave/signer-change.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { signersAfter, sameSigners, type Grant, type GrantChange } from './grant.ts'
import { listOtherPolicies } from './grants-store.ts'

/**
 * Reads the wallet's list of signers at the enclave, and computes the list after the change. `isDone` if they are
 * equal.
 */
export async function readSignerLists(
  ctx: Pick<Context, 'db' | 'enclave'>,
  {
    grant,
    wallet,
    grantSigner,
    change,
  }: { grant: Grant; wallet: Wallet; grantSigner: WalletSigner; change: GrantChange },
): Promise<{ before: readonly WalletSigner[]; after: readonly WalletSigner[]; isDone: boolean }> {
  const [others, { signers: before }] = await Promise.all([
    ctx.db.runRelaxed(listOtherPolicies(grant)),
    ctx.enclave.readWallet(wallet.enclaveWalletId),
  ])
  const after = signersAfter(before, { signer: grantSigner, change, others })
  return { before, after, isDone: sameSigners(before, after) }
}
