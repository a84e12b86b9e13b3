import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Address } from '../../values/address.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { enforceRateLimit } from '../enforce-rate-limit.ts'
import { signerChangeUnderWay } from '../grants/grant-problems.ts'
import { SIGNING_REQUEST_MS } from '../grants/signing-request.ts'
import { withSignerLease } from '../grants/with-signer-lease.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { createSlots } from '../wallets/create-slots.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import type { MoveDetails } from '../wallets/owner-request.ts'
import { insertOwnerRequest } from '../wallets/owner-requests-store.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { getWalletPasskey } from '../wallets/queries.ts'
import type { OwnerPasskey, Wallet, WalletPasskey } from '../wallets/wallet.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { findOpenRequests } from './find-open-requests.ts'
import { toFenced } from './queries.ts'
import { reconcileOwners } from './reconcile-owners.ts'
import { makeWalletMove, type MoveRequest } from './make-wallet-move.ts'

/** A move that waits for the signature of the sign-in passkey that owns the wallet. */
export interface PreparedMove {
  readonly requestId: string
  /**
   * WebAuthn options for the passkey's signature, on the site where people sign in. The challenge is the enclave
   * request itself.
   */
  readonly options: PublicKeyCredentialRequestOptionsJSON
}

/**
 * Prepares the request that moves a wallet from a sign-in passkey to a wallet passkey of the caller. Creates the quorum
 * of owners and the slots at the enclave first; they are used again if the same move is asked for once more. The move
 * makes a passkey an owner, so it needs a recent proof (D59). It ends all grants of the wallet.
 *
 * Returns null if the enclave has moved the wallet already and its response was lost: the move is recorded, and there
 * is nothing to sign.
 *
 * Errors: 403 `verification_required`; 404 `wallet_not_found`, `passkey_not_found`; 409 `wallet_moved`,
 * `signer_not_configured`, `signer_change_under_way`; 429 `rate_limit_exceeded`, but not for the operator, who acts in
 * the sandbox (D33).
 */
export async function openWalletMove(
  ctx: Context,
  {
    accountId,
    mode,
    address,
    credentialId,
    actor,
  }: { accountId: string; mode: Mode; address: Address; credentialId: string; actor: ProvenActor },
): Promise<PreparedMove | null> {
  requireRecentProof(actor, ctx.clock.now())
  if (ctx.signer === null) throw problem('signer_not_configured')
  const wallet = await ctx.db.runRelaxed(findWallet(accountId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  const owner = wallet.signInOwner
  if (owner === null) throw problem('wallet_moved')
  const passkey = await getWalletPasskey(ctx, { credentialId, userId: actor.id ?? null })

  const { open, submitted, fenced } = await findOpenRequests(ctx, wallet)
  const earlier = open.find(
    (one): one is MoveRequest => one.kind === 'move' && one.details.credential_id === credentialId,
  )
  const signed = fenced === null ? null : toFenced(fenced)
  let made: NewOwners | undefined = earlier?.details
  if (made === undefined) {
    // Before the slots are created, check whether the move has to wait or was made already. Creating the slots takes
    // about a hundred requests to the enclave, which would be wasted in these cases.
    const isMoved = await withSignerLease(ctx, { wallet, signed }, async (lease) => {
      if ((await reconcileOwners(ctx, lease, { submitted })) !== null) return true
      if (lease.mayTakeEffect) throw signerChangeUnderWay(lease.until)
      return false
    })
    if (isMoved) return null
    if (actor.kind !== 'operator') await enforceRateLimit(ctx, { subject: accountId, bucket: 'wallet_move' })
    // The lease is not held while the slots are created, because that takes a long time.
    made = await createOwnersAndSlots(ctx, { wallet, passkey })
  }
  const owners = made
  return await withSignerLease(ctx, { wallet, signed }, async (lease) => {
    if ((await reconcileOwners(ctx, lease, { submitted })) !== null) return null
    if (lease.mayTakeEffect) {
      // If the pending request is for this same move, its signature may be submitted again. A different move has to
      // wait.
      if (fenced === null || fenced.id !== earlier?.id) throw signerChangeUnderWay(lease.until)
      return await formatMove(ctx, { wallet, owner, request: earlier })
    }
    const request = await prepare(ctx, { wallet, made: owners, createdBy: actor.id ?? null })
    return await formatMove(ctx, { wallet, owner, request })
  })
}

type NewOwners = Omit<MoveDetails, 'signers_before'>

async function createOwnersAndSlots(
  ctx: Context,
  { wallet: { accountId, mode, address }, passkey }: { wallet: Wallet; passkey: WalletPasskey },
): Promise<NewOwners> {
  const publicKeys = [toSpki(passkey.publicKeyCose)]
  const ownerQuorumId = await ctx.enclave.createQuorum({ publicKeys, name: 'Wallet owners' })
  const slots = await createSlots(ctx, { ownerQuorumId })
  return {
    credential_id: passkey.credentialId,
    quorum_id: ownerQuorumId,
    slots: slots.map(({ slot, policyId, signerId, privateKey }) => {
      const context = slotSealContext({ accountId, mode, walletAddress: address }, slot)
      const sealed = ctx.sealer.seal(privateKey, context)
      return { slot, policy_id: policyId, signer_id: signerId, private_key_sealed: sealed.toString('base64') }
    }),
  }
}

async function prepare(
  ctx: Context,
  { wallet, made, createdBy }: { wallet: Wallet; made: NewOwners; createdBy: string | null },
): Promise<MoveRequest> {
  const { signers, ownerQuorumId } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  if (ownerQuorumId !== wallet.ownerQuorumId) {
    ctx.logger.error({ wallet: wallet.address }, "the enclave's record of the owner does not match ours")
    throw problem('enclave_record_differs')
  }
  const createdAt = ctx.clock.now()
  const { credential_id, quorum_id, slots } = made
  const request: MoveRequest = {
    accountId: wallet.accountId,
    id: createId('ownerRequest', createdAt),
    mode: wallet.mode,
    walletAddress: wallet.address,
    kind: 'move',
    details: { credential_id, quorum_id, slots, signers_before: signers },
    expiresAt: new Date(createdAt.getTime() + SIGNING_REQUEST_MS),
    createdAt,
    createdBy,
    submittedBy: null,
    doneAt: null,
  }
  await ctx.db.runDurable(insertOwnerRequest(request))
  return request
}

async function formatMove(
  ctx: Context,
  { wallet, owner, request }: { wallet: Wallet; owner: OwnerPasskey; request: MoveRequest },
): Promise<PreparedMove> {
  const options = await generateAuthenticationOptions({
    rpID: ctx.relyingParty.id,
    challenge: Uint8Array.from(makeWalletMove(ctx, { wallet, request }).challenge),
    userVerification: 'required',
    timeout: request.expiresAt.getTime() - ctx.clock.now().getTime(),
    allowCredentials: [{ id: owner.credentialId }],
  })
  return { requestId: request.id, options }
}
