import { problem } from '../../values/problem.ts'
import { findSigner } from '../agents/store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { findWallet } from '../wallets/store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { getGrant } from './get-grant.ts'
import {
  changedSigners,
  SIGNING_REQUEST_MS,
  sameSigners,
  type Grant,
  type SignerChange,
  type WalletSigner,
} from './grant.ts'
import { recordChange } from './record-change.ts'
import { keepSigningRequest } from './store.ts'
import { withSignerChange } from './with-signer-change.ts'

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
 * Prepares the enclave request that activates or revokes a grant, for the owner to sign. Where the enclave already is
 * as wished (a crash after the enclave's answer, or a pending grant that is dropped), it records that, and answers the
 * grant with nothing to sign. Errors: 404; 409 `grant_revoked`, `grant_not_pending`, `signer_change_under_way`,
 * `signing_request_stale`.
 */
export async function issueSigningRequest(
  ctx: Context,
  {
    accountId,
    grantId,
    change,
    actor = OPERATOR,
  }: { accountId: string; grantId: string; change: SignerChange; actor?: Actor },
): Promise<SigningRequest | { readonly grant: Grant; readonly challenge: null }> {
  const grant = await getGrant(ctx, { accountId, grantId })
  if (grant.status === 'revoked') throw problem('grant_revoked')
  if (change === 'activate' && grant.status !== 'pending') throw problem('grant_not_pending')
  const { wallet, grantSigner } = await readParties(ctx, grant)
  const { signers: before } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  const after = changedSigners(before, grantSigner, change)
  if (sameSigners(before, after)) {
    return { grant: await recordAsItIs(ctx, { grant, wallet, grantSigner, change, actor }), challenge: null }
  }

  const expiresAt = new Date(ctx.clock.now().getTime() + SIGNING_REQUEST_MS)
  await ctx.db.write(keepSigningRequest(grant, { change, before, after, expires_at: expiresAt.toISOString() }))
  const { challenge } = ctx.enclave.buildSignerChange({
    enclaveWalletId: wallet.enclaveWalletId,
    signers: after,
    expiresAt,
  })
  return { grant, challenge, credentialId: wallet.owner.credentialId, rpId: ctx.relyingParty.id, expiresAt }
}

/** Under the lease, and read again: a change that is under way right now may have made it another. */
async function recordAsItIs(
  ctx: Context,
  {
    grant,
    wallet,
    grantSigner,
    change,
    actor,
  }: { grant: Grant; wallet: Wallet; grantSigner: WalletSigner; change: SignerChange; actor: Actor },
): Promise<Grant> {
  return await withSignerChange(ctx, wallet, async () => {
    const { signers } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
    if (!sameSigners(signers, changedSigners(signers, grantSigner, change))) throw problem('signing_request_stale')
    return await recordChange(ctx, { grant, change, signers, actor })
  })
}

export async function readParties(ctx: Context, grant: Grant): Promise<{ wallet: Wallet; grantSigner: WalletSigner }> {
  const [signer, wallet] = await ctx.db.readBoth(
    findSigner(grant.accountId, grant.mode, grant.agentId),
    findWallet(grant.accountId, grant.mode, grant.walletAddress),
  )
  if (wallet === null || signer === null || signer.signerId === null) {
    throw new Error(`grant ${grant.id} has no wallet or signer`)
  }
  return { wallet, grantSigner: { signerId: signer.signerId, policyIds: [grant.enclavePolicyId] } }
}
