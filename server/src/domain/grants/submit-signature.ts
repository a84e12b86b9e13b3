import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { policyMatches } from '../../enclave/policy-rules.ts'
import { problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { getGrant } from './get-grant.ts'
import { sameSigners, type Grant, type StoredSigningRequest, type WalletSigner } from './grant.ts'
import { readParties } from './issue-signing-request.ts'
import { recordChange } from './record-change.ts'
import { withSignerChange } from './with-signer-change.ts'

/**
 * Hands the owner's signature to the enclave, and records what the enclave then says. The service verifies the
 * signature first, and the enclave verifies it for itself (D15). Errors: 400 `signature_invalid`; 409
 * `grant_not_pending` (nothing to sign), `grant_revoked`, `signing_request_expired`, `signing_request_stale` (the list changed
 * meanwhile), `signer_change_under_way`.
 */
export async function submitSignature(
  ctx: Context,
  {
    accountId,
    grantId,
    assertion,
    actor = OPERATOR,
  }: { accountId: string; grantId: string; assertion: AuthenticationResponseJSON; actor?: Actor },
): Promise<Grant> {
  const grant = await getGrant(ctx, { accountId, grantId })
  const request = grant.signingRequest
  if (request === null) throw problem(grant.status === 'revoked' ? 'grant_revoked' : 'grant_not_pending')
  const expiresAt = new Date(request.expires_at)
  if (ctx.clock.now() >= expiresAt) throw problem('signing_request_expired')

  const { wallet } = await readParties(ctx, grant)
  const { enclaveWalletId, owner } = wallet
  const { challenge } = ctx.enclave.buildSignerChange({ enclaveWalletId, signers: request.after, expiresAt })
  await checkOwnerSignature(ctx, { owner, challenge, assertion })
  return await withSignerChange(ctx, wallet, async () => {
    await checkNotDropped(ctx, { grant, request })
    const signers = await applyChange(ctx, { grant, wallet, request, expiresAt, assertion })
    return await recordChange(ctx, { grant, change: request.change, signers, actor })
  })
}

interface Change {
  readonly grant: Grant
  readonly wallet: Wallet
  readonly request: StoredSigningRequest
  readonly expiresAt: Date
  readonly assertion: AuthenticationResponseJSON
}

/** Before the lease was had, somebody may have dropped the grant: what would bind at the enclave is not to be put there. */
async function checkNotDropped(ctx: Context, { grant, request }: Pick<Change, 'grant' | 'request'>): Promise<void> {
  if (request.change === 'revoke') return
  const { status } = await getGrant(ctx, { accountId: grant.accountId, grantId: grant.id })
  if (status === 'revoked') throw problem('grant_revoked')
}

/** Answers the signers that the enclave then lists. */
async function applyChange(
  ctx: Context,
  { grant, wallet, request, expiresAt, assertion }: Change,
): Promise<readonly WalletSigner[]> {
  const { enclaveWalletId } = wallet
  const { signers } = await ctx.enclave.readWallet(enclaveWalletId)
  if (!sameSigners(signers, request.after)) {
    if (!sameSigners(signers, request.before)) throw problem('signing_request_stale')
    await ctx.enclave.applySignerChange({
      enclaveWalletId,
      signers: request.after,
      expiresAt,
      assertion: assertion.response,
    })
  }
  return await checkEnclaveRecord(ctx, { grant, wallet, request })
}

/** Reads the enclave's record back and compares it (D15): an answer alone is not believed. */
async function checkEnclaveRecord(
  ctx: Context,
  { grant, wallet, request }: Pick<Change, 'grant' | 'wallet' | 'request'>,
): Promise<readonly WalletSigner[]> {
  const { signers, ownerQuorumId } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  if (!sameSigners(signers, request.after) || ownerQuorumId !== wallet.ownerQuorumId) {
    throw new Error(`the enclave's record of the wallet of grant ${grant.id} is not what was signed`)
  }
  if (request.change === 'revoke') return signers
  const policy = await ctx.enclave.readPolicy(grant.enclavePolicyId)
  const terms = { ...grant, chainId: ctx.chains[grant.mode].chainId }
  if (policy.ownerId !== wallet.ownerQuorumId || !policyMatches(policy.rules, terms)) {
    throw new Error(`the enclave's policy of grant ${grant.id} is not what was signed`)
  }
  return signers
}
