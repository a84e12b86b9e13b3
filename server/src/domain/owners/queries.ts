import type { Address } from '../../values/address.ts'
import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { OwnerRequest } from './owner-request.ts'
import { findOwnerRequest } from './owner-requests-store.ts'
import { listWalletOwners, type WalletOwner } from '../wallets/wallet-owners-store.ts'

/** Returns a request that changes the owners of a wallet, or throws 404 `owner_request_not_found`. */
export async function getOwnerRequest(
  ctx: Pick<Context, 'db'>,
  { workspaceId, requestId }: { workspaceId: string; requestId: string },
): Promise<OwnerRequest> {
  const isWellFormed = isId('ownerRequest', requestId)
  const request = isWellFormed ? await ctx.db.read(findOwnerRequest(workspaceId, requestId)) : null
  if (request === null) throw problem('owner_request_not_found')
  return request
}

/** Lists the owners of these wallets, by the wallet's address. */
export async function listOwnersByWallet(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, addresses }: { workspaceId: string; mode: Mode; addresses: readonly Address[] },
): Promise<ReadonlyMap<Address, readonly WalletOwner[]>> {
  const owners = await ctx.db.readSlow(listWalletOwners(workspaceId, mode, addresses))
  return Map.groupBy(owners, ({ walletAddress }) => walletAddress)
}
