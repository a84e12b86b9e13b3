import type { WalletSigner } from '../../enclave/signer-change.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { findSignerLease } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { invalidTerm } from './check-policy.ts'
import { findReplacedGrant, getGrant } from './queries.ts'
import { sameSigners, type Grant, type GrantChange, type StoredSigningRequest } from './grant.ts'
import { getWalletAndSigner } from './get-wallet-and-signer.ts'
import { readSignerLists } from './read-signer-lists.ts'
import { reconcileGrant } from './reconcile-grant.ts'
import { grantRevoked, signerChangeUnderWay } from './grant-problems.ts'
import { findSubmittedRequest, isFencedFor, isOutdated, SIGNING_REQUEST_MS } from './signing-request.ts'
import { saveSigningRequest } from './grants-store.ts'
import { leaseBounds, withSignerLease } from './with-signer-lease.ts'

/** What the owner's passkey is asked to sign, and until when. */
export interface SigningRequest {
  readonly grant: Grant
  /** The WebAuthn challenge: the exact enclave request in canonical JSON (RFC 8785; D15). */
  readonly challenge: Uint8Array
  readonly credentialId: string
  readonly rpId: string
  readonly expiresAt: Date
}

/**
 * Prepares the enclave request that activates or revokes a grant, for the owner to sign. A request that was prepared
 * before is returned again while at least half of its time is left.
 *
 * If the enclave's list of signers is already as requested, there is nothing to sign: the current state is recorded and
 * the grant is returned. This happens after a crash between the enclave's response and the record of it, or when a
 * pending grant is dropped.
 *
 * Errors: 404; 409 `grant_revoked`, `grant_not_pending`, `signer_change_under_way`, `signing_request_stale`; 400 for a
 * grant that has expired.
 */
export async function issueSigningRequest(
  ctx: Context,
  { accountId, grantId, change, actor }: { accountId: string; grantId: string; change: GrantChange; actor: Actor },
): Promise<SigningRequest | { readonly grant: Grant; readonly challenge: null }> {
  const grant = await getGrant(ctx, { accountId, grantId })
  if (grant.status === 'revoked') throw grantRevoked(grant)
  if (change === 'activate' && grant.status !== 'pending') throw problem('grant_not_pending')
  const { wallet, grantSigner } = await getWalletAndSigner(ctx, grant)
  const { before, after, isDone } = await readSignerLists(ctx, { grant, wallet, grantSigner, change })
  if (isDone) {
    return { grant: await recordCurrentState(ctx, { grant, wallet, grantSigner, change, actor }), challenge: null }
  }

  const request = await prepareRequest(ctx, { grant, wallet, change, before, after })
  const expiresAt = new Date(request.expires_at)
  const { enclaveWalletId, owner } = wallet
  const { challenge } = ctx.enclave.buildSignerChange({ enclaveWalletId, signers: request.after, expiresAt })
  return { grant, challenge, credentialId: owner.credentialId, rpId: ctx.relyingParty.id, expiresAt }
}

interface RequestedChange {
  readonly grant: Grant
  readonly wallet: Wallet
  readonly change: GrantChange
}

/**
 * Returns the request for the owner to sign, new or as prepared before. Throws while another change may still take
 * effect, because it would make this request stale.
 */
async function prepareRequest(
  ctx: Context,
  { grant, wallet, change, before, after }: RequestedChange & Pick<StoredSigningRequest, 'before' | 'after'>,
): Promise<StoredSigningRequest> {
  const now = ctx.clock.now()
  if (change === 'activate' && grant.expiresAt !== null && grant.expiresAt <= now) {
    throw invalidTerm('expires_at', 'has passed; create another grant')
  }
  const [held, replaced] = await Promise.all([
    ctx.db.runRelaxed(findSignerLease(wallet, leaseBounds(now))),
    findReplacedGrant(ctx, grant),
  ])
  const waiting = grant.signingRequest
  const isSame = waiting?.change === change && sameSigners(waiting.before, before) && sameSigners(waiting.after, after)
  const left = waiting === null || !isSame || isOutdated(waiting, replaced) ? 0 : timeLeft(waiting, now)
  if (waiting !== null && left > 0 && held !== null && isFencedFor(waiting, held)) return waiting
  if (held !== null) throw signerChangeUnderWay(held)
  if (waiting !== null && left >= SIGNING_REQUEST_MS / 2) return waiting

  const expiresAt = new Date(now.getTime() + SIGNING_REQUEST_MS)
  const request = { change, before, after, expires_at: expiresAt.toISOString() }
  await ctx.db.runDurable(saveSigningRequest(grant, request))
  return request
}

function timeLeft({ expires_at: expiresAt }: StoredSigningRequest, now: Date): number {
  return Date.parse(expiresAt) - now.getTime()
}

/**
 * Records that the enclave's list is already as requested. Reads the list again while holding the lease, because a
 * change in progress may have altered it since.
 */
async function recordCurrentState(
  ctx: Context,
  { grant, wallet, grantSigner, change, actor }: RequestedChange & { grantSigner: WalletSigner; actor: Actor },
): Promise<Grant> {
  return await withSignerLease(ctx, { wallet, signed: findSubmittedRequest(grant, change) }, async (lease) => {
    const { before: signers, isDone } = await readSignerLists(ctx, { grant, wallet, grantSigner, change })
    if (!isDone) throw problem('signing_request_stale')
    return await reconcileGrant(ctx, lease, { grant, change, signers, foundBy: actor })
  })
}
