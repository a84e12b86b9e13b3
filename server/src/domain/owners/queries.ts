import type { Address } from '../../values/address.ts'
import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { FencedRequest } from '../grants/signing-fence.ts'
import type { OwnerRequest } from './owner-request.ts'
import { findOwnerRequest } from './owner-requests-store.ts'
import { listWalletOwners, type WalletOwner } from '../wallets/wallet-owners-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { findWallet } from '../wallets/wallets-store.ts'

/** Returns a request that changes the owners of a wallet, or throws 404 `owner_request_not_found`. */
export async function getOwnerRequest(
  ctx: Pick<Context, 'db'>,
  { accountId, requestId }: { accountId: string; requestId: string },
): Promise<OwnerRequest> {
  const isWellFormed = isId('ownerRequest', requestId)
  const request = isWellFormed ? await ctx.db.read(findOwnerRequest(accountId, requestId)) : null
  if (request === null) throw problem('owner_request_not_found')
  return request
}

export async function getRequestedWallet(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, walletAddress }: OwnerRequest,
): Promise<Wallet> {
  const wallet = await ctx.db.read(findWallet(accountId, mode, walletAddress))
  if (wallet === null) throw new Error(`there is no wallet ${walletAddress}`)
  return wallet
}

/** Lists the owners of these wallets, by the wallet's address. */
export async function listOwnersByWallet(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, addresses }: { accountId: string; mode: Mode; addresses: readonly Address[] },
): Promise<ReadonlyMap<Address, readonly WalletOwner[]>> {
  const owners = await ctx.db.readSlow(listWalletOwners(accountId, mode, addresses))
  return Map.groupBy(owners, ({ walletAddress }) => walletAddress)
}

/** Returns what the wallet's lease has to know about a request that may have been sent. */
export function toFenced({ expiresAt, submittedBy }: Pick<OwnerRequest, 'expiresAt' | 'submittedBy'>): FencedRequest {
  return { expires_at: expiresAt.toISOString(), ...(submittedBy === null ? {} : { handed_in_by: submittedBy }) }
}
