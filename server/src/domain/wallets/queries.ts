import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { rolesWith } from '../../values/role.ts'
import type { Context } from '../context.ts'
import { findWalletPasskey, listWalletPasskeyRows, type OwnedWalletPasskey } from './wallet-passkeys-store.ts'
import { WALLETS_LISTED_MAX, type WalletPasskey, type WalletSummary } from './wallet.ts'
import { listWalletsOwnedBy, type OwnedWallet } from './wallet-owners-store.ts'
import { findWalletSummary, listWalletSummaries } from './wallets-store.ts'

/** Returns a wallet of the workspace and mode, or throws 404 `wallet_not_found`. */
export async function getWallet(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, address }: { workspaceId: string; mode: Mode; address: Address },
): Promise<WalletSummary> {
  const wallet = await ctx.db.read(findWalletSummary(workspaceId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  return wallet
}

/** Lists the wallets of the workspace and mode, oldest first. If there are more than 1,000, lists the newest 1,000. */
export async function listWallets(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<WalletSummary[]> {
  return await ctx.db.readSlow(listWalletSummaries(workspaceId, mode, WALLETS_LISTED_MAX), workspaceId)
}

/**
 * Lists the wallets of both modes that a user owns, oldest first, and for each who else can sign for it: the other
 * owners who are members and may prepare grants. At most 1,000.
 */
export async function listWalletsOfOwner(
  ctx: Pick<Context, 'db'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<OwnedWallet[]> {
  const query = listWalletsOwnedBy({ workspaceId, userId, roles: rolesWith('manageGrants') }, WALLETS_LISTED_MAX)
  return await ctx.db.readSlow(query, workspaceId)
}

/** Lists a user's wallet passkeys, oldest first, each with how many wallets it owns. */
export async function listWalletPasskeys(
  ctx: Pick<Context, 'db'>,
  { userId }: { userId: string },
): Promise<OwnedWalletPasskey[]> {
  return await ctx.db.read(listWalletPasskeyRows(userId))
}

/**
 * Returns a wallet passkey. Throws 404 `passkey_not_found` if there is none, or if it belongs to a user other than
 * `userId`. If `userId` is null, the passkey may belong to any user.
 */
export async function getWalletPasskey(
  ctx: Pick<Context, 'db'>,
  { credentialId, userId }: { credentialId: string; userId: string | null },
): Promise<WalletPasskey> {
  const passkey = await ctx.db.read(findWalletPasskey(credentialId))
  if (passkey === null || (userId !== null && passkey.userId !== userId)) throw problem('passkey_not_found')
  return passkey
}
