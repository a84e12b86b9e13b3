import { problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { findSignerChange } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { invalidTerm } from './check-policy.ts'
import { findReplaced } from './find-replaced.ts'
import { getGrant } from './get-grant.ts'
import { sameSigners, type Grant, type GrantAction, type StoredSigningRequest, type WalletSigner } from './grant.ts'
import { readParties } from './read-parties.ts'
import { readSigners } from './read-signers.ts'
import { reconcileGrant } from './reconcile-grant.ts'
import { grantRevoked, signerChangeUnderWay } from './refusal.ts'
import { findHandedIn, isFencedFor, isOvertaken, SIGNING_REQUEST_MS } from './signing-request.ts'
import { keepSigningRequest } from './grants-store.ts'
import { leaseSpan, withSignerChange } from './with-signer-change.ts'

/** What the owner's passkey is asked to sign, and by when. */
export interface SigningRequest {
  readonly grant: Grant
  /** The WebAuthn challenge: the exact enclave request in canonical form (RFC 8785, D15). */
  readonly challenge: Uint8Array
  readonly credentialId: string
  readonly rpId: string
  readonly expiresAt: Date
}

/**
 * Prepares the enclave request that activates or revokes a grant, for the owner to sign; one that waits already, and has
 * half its time left, is answered again. Where the enclave already is as wished (a crash after the enclave's answer, or a
 * pending grant that is dropped), it records that, and answers the grant with nothing to sign. Errors: 404; 409
 * `grant_revoked`, `grant_not_pending`, `signer_change_under_way`, `signing_request_stale`; 400 for a grant that is over.
 */
export async function issueSigningRequest(
  ctx: Context,
  {
    accountId,
    grantId,
    change,
    actor = OPERATOR,
  }: { accountId: string; grantId: string; change: GrantAction; actor?: Actor },
): Promise<SigningRequest | { readonly grant: Grant; readonly challenge: null }> {
  const grant = await getGrant(ctx, { accountId, grantId })
  if (grant.status === 'revoked') throw grantRevoked(grant)
  if (change === 'activate' && grant.status !== 'pending') throw problem('grant_not_pending')
  const { wallet, grantSigner } = await readParties(ctx, grant)
  const { before, after, isDone } = await readSigners(ctx, { grant, wallet, grantSigner, change })
  if (isDone) {
    return { grant: await recordAsItIs(ctx, { grant, wallet, grantSigner, change, actor }), challenge: null }
  }

  const request = await putBeforeOwner(ctx, { grant, wallet, change, before, after })
  const expiresAt = new Date(request.expires_at)
  const { enclaveWalletId, owner } = wallet
  const { challenge } = ctx.enclave.buildSignerChange({ enclaveWalletId, signers: request.after, expiresAt })
  return { grant, challenge, credentialId: owner.credentialId, rpId: ctx.relyingParty.id, expiresAt }
}

interface Asked {
  readonly grant: Grant
  readonly wallet: Wallet
  readonly change: GrantAction
}

/** Nothing is asked for while another change may come into force: what is signed now would be stale by then. */
async function putBeforeOwner(
  ctx: Context,
  { grant, wallet, change, before, after }: Asked & Pick<StoredSigningRequest, 'before' | 'after'>,
): Promise<StoredSigningRequest> {
  const now = ctx.clock.now()
  if (change === 'activate' && grant.expiresAt !== null && grant.expiresAt <= now) {
    throw invalidTerm('expires_at', 'has passed; prepare another grant')
  }
  const [held, replaced] = await Promise.all([
    ctx.db.runRelaxed(findSignerChange(wallet, leaseSpan(now))),
    findReplaced(ctx, grant),
  ])
  const waiting = grant.signingRequest
  const isSame = waiting?.change === change && sameSigners(waiting.before, before) && sameSigners(waiting.after, after)
  const left = waiting === null || !isSame || isOvertaken(waiting, replaced) ? 0 : timeLeft(waiting, now)
  if (waiting !== null && left > 0 && held !== null && isFencedFor(waiting, held)) return waiting
  if (held !== null) throw signerChangeUnderWay(held)
  if (waiting !== null && left >= SIGNING_REQUEST_MS / 2) return waiting

  const expiresAt = new Date(now.getTime() + SIGNING_REQUEST_MS)
  const request = { change, before, after, expires_at: expiresAt.toISOString() }
  await ctx.db.runDurable(keepSigningRequest(grant, request))
  return request
}

function timeLeft({ expires_at: expiresAt }: StoredSigningRequest, now: Date): number {
  return Date.parse(expiresAt) - now.getTime()
}

/** Under the lease, and read again: a change that is under way right now may have made it another. */
async function recordAsItIs(
  ctx: Context,
  { grant, wallet, grantSigner, change, actor }: Asked & { grantSigner: WalletSigner; actor: Actor },
): Promise<Grant> {
  return await withSignerChange(ctx, { wallet, signed: findHandedIn(grant, change) }, async (hold) => {
    const { before: signers, isDone } = await readSigners(ctx, { grant, wallet, grantSigner, change })
    if (!isDone) throw problem('signing_request_stale')
    return await reconcileGrant(ctx, hold, { grant, change, signers, finder: actor })
  })
}
