import type { Context } from '../context.ts'
import { toSpki } from './owner-passkey.ts'
import { listOwners } from './wallet-owners-store.ts'
import type { OwnerCredential } from './signing-request.ts'
import type { Wallet } from './wallet.ts'

/**
 * Lists the passkeys that may sign for a wallet. The wallet must belong to wallet passkeys, not to a sign-in passkey.
 */
export async function listOwnerCredentials(
  ctx: Pick<Context, 'db'>,
  wallet: Pick<Wallet, 'workspaceId' | 'mode' | 'address'>,
): Promise<OwnerCredential[]> {
  const owners = await ctx.db.read(listOwners(wallet))
  return owners.map(({ credentialId, publicKeyCose, name }) => ({
    id: credentialId,
    publicKey: toSpki(publicKeyCose),
    name,
  }))
}
