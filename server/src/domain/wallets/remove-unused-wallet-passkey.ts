import { problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type SignedInUser } from '../require-recent-proof.ts'
import { deleteWalletPasskey, isWalletPasskeyUsed, lockWalletPasskey } from './wallet-passkeys-store.ts'

/**
 * Removes one of a user's wallet passkeys. A passkey that owns a wallet is not removed, even if it becomes an owner
 * only while this function runs. A passkey is also not removed if a response of the enclave was lost and the passkey
 * may be an owner there.
 *
 * Errors: 403 `verification_required`; 404 `passkey_not_found`; 409 `passkey_owns_wallets`.
 */
export async function removeUnusedWalletPasskey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session, credentialId }: { session: SignedInUser; credentialId: string },
): Promise<void> {
  const createdAt = ctx.clock.now()
  requireRecentProof(session, createdAt)
  const { userId } = session
  await ctx.db.transaction(async (transaction) => {
    // The first statement waits for the lock. The second one runs after that, so it sees what was committed before.
    if (!(await transaction.run(lockWalletPasskey(userId, credentialId)))) throw problem('passkey_not_found')
    if (await transaction.run(isWalletPasskeyUsed(userId, credentialId))) throw problem('passkey_owns_wallets')
    const entry = { createdAt, action: 'wallet_passkey.removed', subject: credentialId } as const
    await transaction.commit([deleteWalletPasskey(userId, credentialId), insertPersonalEntry(userId, entry)])
  })
}
