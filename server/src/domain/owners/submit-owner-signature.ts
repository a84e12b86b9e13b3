import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Transaction } from '../../db/transaction.ts'
import type { RequestToSign } from '../../enclave/enclave.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { findMember } from '../members/members-store.ts'
import { keepSignature } from '../owner-signatures/keep-signature.ts'
import type { OwnerSignature } from '../owner-signatures/owner-signature.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import { readBack, type Pause } from '../wallets/read-back.ts'
import { sendSignedRequest } from '../wallets/send-signed-request.ts'
import { fenceOf } from '../wallets/signing-fence.ts'
import { holdWalletPasskey } from '../wallets/wallet-passkeys-store.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { withSignerLease, type SignerLease } from '../wallets/with-signer-lease.ts'
import type { OwnerRequest } from './owner-request.ts'
import { markOwnerRequestSubmitted } from './owner-requests-store.ts'
import { getOwnerRequest } from './queries.ts'
import { isRecorded, readChange, wasRejected } from './read-change.ts'
import { recordOwnerChange } from './record-owner-change.ts'

/**
 * Sends the owner's signature for a change of owners to the enclave, reads the result back and records it. The service
 * verifies the signature first, and the enclave verifies it again. Submitting the same signature again after the change
 * was recorded has no effect.
 *
 * Errors:
 * - 400 `signature_invalid`
 * - 404 `owner_request_not_found`, `passkey_not_found`
 * - 409 `signing_request_expired`, `signer_change_under_way`, `signer_not_configured`
 * - 409 `signing_request_stale`: the owners changed after the request was prepared, or the enclave has rejected it.
 * - 500 `enclave_record_differs`: nothing was recorded, and the same signature can be submitted again.
 *
 * @throws EnclaveUnavailable if the outcome is not known. The same signature can be submitted again.
 */
export async function submitOwnerSignature(
  ctx: Context,
  {
    workspaceId,
    requestId,
    assertion,
    actor,
    pause,
  }: {
    workspaceId: string
    requestId: string
    assertion: AuthenticationResponseJSON
    actor: Actor
    pause?: Pause
  },
): Promise<OwnerRequest> {
  const request = await getOwnerRequest(ctx, { workspaceId, requestId })
  const { mode, walletAddress, kind, details, expiresAt, createdAt: requestedAt } = request
  if (request.doneAt !== null) return request
  if (ctx.clock.now() >= expiresAt) throw problem('signing_request_expired')
  const wallet = await ctx.db.read(findWallet(workspaceId, mode, walletAddress))
  if (wallet === null) throw new Error(`there is no wallet ${walletAddress}`)
  // A passkey that is lost or stolen must not decide about its own removal.
  if (kind === 'remove_owner' && assertion.id === details.credential_id) throw problem('signature_invalid')
  const toSign = ctx.enclave.prepareOwners({ wallet, owners: details.after, expiresAt })
  const signature = await checkOwnerSignature(ctx, { wallet, challenge: toSign.payload, requestedAt, assertion })
  return await withSignerLease(ctx, { wallet, signed: request }, async (lease) => {
    const current = await getOwnerRequest(ctx, { workspaceId, requestId })
    if (current.doneAt === null) await applyChange(ctx, lease, { request: current, toSign, signature, actor, pause })
    return await getOwnerRequest(ctx, { workspaceId, requestId })
  })
}

interface SignedChange {
  readonly request: OwnerRequest
  readonly toSign: RequestToSign<void>
  readonly signature: OwnerSignature
  readonly actor: Actor
  readonly pause: Pause | undefined
}

/**
 * Sends the request and records the change. If the enclave has made it already, an earlier submission succeeded. Then
 * nothing is sent, and the change is attributed to the person who made that submission.
 */
async function applyChange(ctx: Context, lease: SignerLease, signed: SignedChange): Promise<void> {
  const { request, toSign, signature, actor, pause } = signed
  const { wallet } = lease
  const state = await readChange(ctx, wallet, request)
  if (state === 'other') throw problem('signing_request_stale')
  if (state === 'after' && (await isRecorded(ctx, wallet, request))) return
  if (state === 'before') {
    if (wasRejected(request, lease)) throw problem('signing_request_stale')
    const compare = async () => ((await readChange(ctx, wallet, request)) === 'after' ? null : { request: request.id })
    await sendSignedRequest(ctx, lease, {
      request,
      toSign,
      assertion: signature.assertion,
      markSubmitted: markOwnerRequestSubmitted(request, actor),
      keepSignature: keepSignature(ctx, signature, {
        ...{ workspaceId: request.workspaceId, mode: request.mode, actor, statement: null },
        ...{ kind: 'owners', subject: request.walletAddress, usableUntil: fenceOf(request) },
      }),
      checkPossible: async (transaction) => checkAddition(transaction, request),
      readBack: async () => readBack(ctx, compare, pause),
    })
  }
  const by = state === 'after' ? (request.submittedBy ?? actor) : actor
  await recordOwnerChange(ctx, lease, { request, actor: by })
}

/**
 * Checks that a passkey may still become an owner. The person who asked for this is the new owner, because people can
 * only ask for their own passkeys. If this person was removed from the workspace after the request was prepared, they
 * must not become an owner. The operator, who acts in the sandbox and may name any person's passkey, is no member.
 *
 * Throws 404 `passkey_not_found`.
 */
async function checkAddition(
  transaction: Transaction,
  { workspaceId, kind, details, createdBy }: OwnerRequest,
): Promise<void> {
  if (kind !== 'add_owner') return
  // Locks the passkey, so that it cannot be deleted before the request is marked as submitted. After that, the mark
  // keeps it from being deleted.
  if (!(await transaction.run(holdWalletPasskey(details.credential_id)))) throw problem('passkey_not_found')
  if (createdBy !== null && (await transaction.run(findMember(workspaceId, createdBy))) === null) {
    throw problem('passkey_not_found')
  }
}
