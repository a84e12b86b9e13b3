import type { Address } from '../../values/address.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import { listOwners } from '../wallets/wallet-owners-store.ts'
import { listOwnerCredentials } from '../wallets/list-credentials.ts'
import type { OwnerRequest, OwnersChangeKind } from './owner-request.ts'
import {
  clearOwnerRequestSubmitter,
  insertOwnerRequest,
  listOpenOwnerRequests,
  listUncertainRemovals,
  OPEN_REQUESTS_MAX,
} from './owner-requests-store.ts'
import { fenceOf, isFencedFor, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import type { SigningRequest } from '../wallets/signing-request.ts'
import { getWalletPasskey } from '../wallets/queries.ts'
import { OWNERS_MAX, type Wallet, type WalletPasskey } from '../wallets/wallet.ts'
import { findSignerLease, findWallet } from '../wallets/wallets-store.ts'
import { leaseBounds, signerChangeUnderWay, withSignerLease, type SignerLease } from '../wallets/with-signer-lease.ts'
import { isRecorded, readChange, sameMembers, wasRejected } from './read-change.ts'
import { recordOwnerChange } from './record-owner-change.ts'

/** A change of owners that waits for the signature of a current owner. */
export interface PreparedOwnersChange {
  readonly requestId: string
  readonly request: SigningRequest
}

interface AskedChange {
  readonly kind: OwnersChangeKind
  readonly credentialId: string
  readonly actor: Actor
}

/**
 * Prepares the request to the enclave that adds a wallet passkey to a wallet's owners, or removes one, so that a
 * current owner can sign it (D61). A person can add their own passkeys only. A passkey is removed by the signature of
 * another owner. A request that was prepared earlier is returned again while at least half of its lifetime is left.
 *
 * First, this function reads the owners from the enclave, and records a submitted change whose response was lost. If
 * that is the requested change, returns null, because there is nothing to sign.
 *
 * Errors: 404 `wallet_not_found`, `passkey_not_found`, `owner_not_found`; 409
 * `signer_not_configured`, `owner_exists`, `owner_limit_reached`, `last_wallet_owner`, `signer_change_under_way`; 500
 * `enclave_record_differs`.
 */
export async function openOwnerChange(
  ctx: Context,
  {
    workspaceId,
    mode,
    address,
    ...asked
  }: AskedChange & { readonly workspaceId: string; readonly mode: Mode; readonly address: Address },
): Promise<PreparedOwnersChange | null> {
  if (ctx.signer === null) throw problem('signer_not_configured')
  const wallet = await ctx.db.read(findWallet(workspaceId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  if (asked.kind === 'add_owner') await getOwnPasskey(ctx, asked)
  const [open, held] = await ctx.db.read([
    listOpenOwnerRequests(wallet, OPEN_REQUESTS_MAX),
    findSignerLease(wallet, leaseBounds(ctx.clock.now())),
  ])
  const signed = held === null ? null : (open.find((request) => isFencedFor(request, held)) ?? null)
  return await withSignerLease(ctx, { wallet, signed }, async (lease) => {
    const recorded = await reconcileOwners(ctx, lease, open)
    if (recorded !== null && isAsked(recorded, asked)) return null
    const usable = await findUsable(ctx, lease, asked)
    if (usable !== null) return await formatRequest(ctx, wallet, usable)
    // If a submitted request may still take effect, it makes a different change than the requested one.
    if (lease.mayTakeEffect) throw signerChangeUnderWay(lease.until)
    return await formatRequest(ctx, wallet, await prepare(ctx, wallet, asked))
  })
}

function isAsked({ kind, details }: OwnerRequest, asked: AskedChange): boolean {
  return kind === asked.kind && details.credential_id === asked.credentialId
}

/**
 * Records a change of owners that was submitted and that the enclave has made, although its response never reached us.
 * The change is attributed to the person who submitted it. Returns the request of this change, or null if there was no
 * such change. A request that had no effect and can no longer take effect does not count as submitted any more.
 */
async function reconcileOwners(
  ctx: Context,
  lease: SignerLease,
  open: readonly OwnerRequest[],
): Promise<OwnerRequest | null> {
  const { wallet } = lease
  for (const request of open) {
    if (request.submittedBy === null) continue
    if ((await readChange(ctx, wallet, request)) === 'after' && !(await isRecorded(ctx, wallet, request))) {
      await recordOwnerChange(ctx, lease, { request, actor: request.submittedBy })
      return request
    }
    // Until its fence has passed, the request may still take effect, or the enclave's reads may not show its effect yet.
    if (ctx.clock.now() >= fenceOf(request)) await ctx.db.write(clearOwnerRequestSubmitter(request))
  }
  return null
}

/**
 * Finds out whether the enclave has removed a passkey from the owners of these wallets although the response to the
 * removal was lost, and records it. Returns whether there was such a removal. Throws 409 `signer_change_under_way` while
 * it may still take effect.
 */
export async function settleRemovals(
  ctx: Context,
  {
    wallets,
    credentialId,
    ...place
  }: Pick<Wallet, 'workspaceId' | 'mode'> & { readonly wallets: readonly Address[]; readonly credentialId: string },
): Promise<boolean> {
  const removals = await ctx.db.read(listUncertainRemovals(place, { wallets, credentialId }, OPEN_REQUESTS_MAX))
  for (const { walletAddress } of removals) {
    const wallet = await ctx.db.read(findWallet(place.workspaceId, place.mode, walletAddress))
    if (wallet === null) throw new Error(`there is no wallet ${walletAddress}`)
    await withSignerLease(ctx, { wallet }, async (lease) => {
      await reconcileOwners(ctx, lease, await ctx.db.read(listOpenOwnerRequests(wallet, OPEN_REQUESTS_MAX)))
    })
  }
  return removals.length > 0
}

/** Returns the request for this change that can still be signed, or null. */
async function findUsable(ctx: Context, lease: SignerLease, asked: AskedChange): Promise<OwnerRequest | null> {
  const { wallet } = lease
  const now = ctx.clock.now().getTime()
  const open = await ctx.db.read(listOpenOwnerRequests(wallet, OPEN_REQUESTS_MAX))
  const usable = open.find((one) => isAsked(one, asked))
  if (usable === undefined || wasRejected(usable, lease)) return null
  if (usable.expiresAt.getTime() - now < SIGNING_REQUEST_MS / 2) return null
  return (await readChange(ctx, wallet, usable)) === 'before' ? usable : null
}

async function prepare(ctx: Context, wallet: Wallet, asked: AskedChange): Promise<OwnerRequest> {
  const { kind, credentialId, actor } = asked
  const [owners, members] = await Promise.all([ctx.db.read(listOwners(wallet)), ctx.enclave.readOwners(wallet)])
  const before = owners.map(({ publicKeyCose }) => toSpki(publicKeyCose))
  if (members === null || !sameMembers(before, members)) {
    ctx.logger.error({ wallet: wallet.address }, "the enclave's record of the owners does not match ours")
    throw problem('enclave_record_differs')
  }
  const after = kind === 'add_owner' ? await addOwner(ctx, owners, asked) : removeOwner(owners, credentialId)
  const createdAt = ctx.clock.now()
  const request: OwnerRequest = {
    workspaceId: wallet.workspaceId,
    id: createId('ownerRequest', createdAt),
    mode: wallet.mode,
    walletAddress: wallet.address,
    kind,
    details: { credential_id: credentialId, before, after: after.map(({ publicKeyCose }) => toSpki(publicKeyCose)) },
    expiresAt: new Date(createdAt.getTime() + SIGNING_REQUEST_MS),
    createdAt,
    createdBy: actor.kind === 'user' ? actor.id : null,
    submittedBy: null,
    doneAt: null,
  }
  await ctx.db.write(insertOwnerRequest(request, request))
  return request
}

/** Returns the passkey that is to be added. Throws 404 `passkey_not_found` for another person's passkey. */
async function getOwnPasskey(ctx: Context, { credentialId, actor }: AskedChange): Promise<WalletPasskey> {
  // The operator, who acts in the sandbox, may name any person's passkey.
  const userId = actor.kind === 'operator' ? null : actor.id
  return await getWalletPasskey(ctx, { credentialId, userId })
}

async function addOwner(
  ctx: Context,
  owners: readonly WalletPasskey[],
  asked: AskedChange,
): Promise<readonly WalletPasskey[]> {
  const passkey = await getOwnPasskey(ctx, asked)
  if (owners.some((owner) => owner.credentialId === asked.credentialId)) throw problem('owner_exists')
  if (owners.length >= OWNERS_MAX) throw problem('owner_limit_reached', { details: { owners_max: OWNERS_MAX } })
  return [...owners, passkey]
}

function removeOwner(owners: readonly WalletPasskey[], credentialId: string): readonly WalletPasskey[] {
  const after = owners.filter((owner) => owner.credentialId !== credentialId)
  if (after.length === owners.length) throw problem('owner_not_found')
  if (after.length === 0) throw problem('last_wallet_owner')
  return after
}

/** A passkey that is to be removed may not sign, so `credentials` does not contain it. */
async function formatRequest(ctx: Context, wallet: Wallet, request: OwnerRequest): Promise<PreparedOwnersChange> {
  const { id: requestId, kind, details, expiresAt } = request
  const owners = await listOwnerCredentials(ctx, wallet)
  const credentials = owners.filter(({ id }) => kind === 'add_owner' || id !== details.credential_id)
  const { payload } = ctx.enclave.prepareOwners({ wallet, owners: details.after, expiresAt })
  return { requestId, request: { payload, expiresAt, credentials, before: null } }
}
