import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { RequestToSign } from '../../enclave/enclave.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { keepSignature } from '../owner-signatures/keep-signature.ts'
import { settleRemovals } from '../owners/open-owner-change.ts'
import type { OwnerSignature } from '../owner-signatures/owner-signature.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import type { Pause } from '../wallets/read-back.ts'
import { sendSignedRequest } from '../wallets/send-signed-request.ts'
import { fenceOf, issuedAt } from '../wallets/signing-fence.ts'
import type { WalletSlot } from '../wallets/wallet.ts'
import { withSignerLease, type SignerLease } from '../wallets/with-signer-lease.ts'
import { getGrant, isOutdated } from './queries.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'
import { checkEnclaveRecord } from './check-enclave-record.ts'
import { getWalletAndSlot } from './get-wallet-and-slot.ts'
import { isInEffect } from './read-slot.ts'
import { recordChange } from './record-change.ts'
import { grantRevoked } from './grant-problems.ts'
import { markSubmitted } from './grants-store.ts'

/**
 * Sends the owner's signature to the enclave and records the result. The service verifies the signature first, and the
 * enclave verifies it again (D15).
 *
 * Errors: 400 `signature_invalid`; 409 `grant_not_pending` (nothing to sign), `grant_revoked`,
 * `signing_request_expired`, `signing_request_stale` (a newer request was prepared, the slot's rules changed, or the
 * grant was suspended meanwhile), `signer_change_under_way`; 500 `enclave_record_differs`: nothing was recorded, and
 * the same signature can be submitted again.
 *
 * @throws EnclaveUnavailable if the outcome is not known. The same signature can be submitted again.
 */
export async function submitSignature(
  ctx: Context,
  {
    workspaceId,
    grantId,
    assertion,
    actor,
    pause,
  }: {
    workspaceId: string
    grantId: string
    assertion: AuthenticationResponseJSON
    actor: Actor
    pause?: Pause
  },
): Promise<Grant> {
  const grant = await getGrant(ctx, { workspaceId, grantId })
  const request = grant.signingRequest
  if (request === null) throw grant.status === 'revoked' ? grantRevoked(grant) : problem('grant_not_pending')
  const { wallet, slot } = await getWalletAndSlot(ctx, grant)
  const { after: rules, expiresAt } = request
  if (ctx.clock.now() >= expiresAt) throw problem('signing_request_expired')

  await settleRemovals(ctx, { ...wallet, wallets: [wallet.address], credentialId: assertion.id })
  const toSign = ctx.enclave.prepareRules({ slot, rules, expiresAt })
  const requestedAt = issuedAt(request)
  const signature = await checkOwnerSignature(ctx, { wallet, challenge: toSign.payload, requestedAt, assertion })
  return await withSignerLease(ctx, { wallet, signed: request }, async (lease) => {
    const current = await getGrant(ctx, { workspaceId, grantId })
    const waiting = current.signingRequest
    if (current.status === 'revoked' || waiting === null || !isSameRequest(waiting, request)) {
      return checkSameResult(current, request)
    }
    return await applyRequest(ctx, lease, { grant: current, slot, request: waiting, toSign, signature, actor, pause })
  })
}

function isSameRequest(left: StoredSigningRequest, right: StoredSigningRequest): boolean {
  return left.change === right.change && left.expiresAt.getTime() === right.expiresAt.getTime()
}

/**
 * Handles a request that is no longer stored: another caller may have submitted the same signature, dropped the grant,
 * or prepared another request before we held the lease. Returns the grant if it already has the signed state; otherwise
 * throws.
 */
function checkSameResult(grant: Grant, { change }: StoredSigningRequest): Grant {
  const isSame = {
    activate: grant.status === 'active',
    revoke: grant.status === 'revoked',
  }
  if (isSame[change]) return grant
  throw grant.status === 'revoked' ? grantRevoked(grant) : problem('signing_request_stale')
}

interface Signed {
  readonly grant: Grant
  readonly slot: WalletSlot
  readonly request: StoredSigningRequest
  readonly toSign: RequestToSign<void>
  readonly signature: OwnerSignature
  readonly actor: Actor
  readonly pause: Pause | undefined
}

/**
 * Sends the request, unless the signed change is already in effect at the enclave. If it is, an earlier submission
 * succeeded, and the change is attributed to the user who made that submission.
 */
async function applyRequest(ctx: Context, lease: SignerLease, signed: Signed): Promise<Grant> {
  const { grant, slot, request, toSign, signature, actor, pause } = signed
  const { change, after } = request
  const rules = await ctx.enclave.readRules(slot)
  const isDone = isInEffect(rules, { grant, change })
  const readBack = async () => checkEnclaveRecord(ctx, { grant, wallet: lease.wallet, slot, rules: after, pause })
  if (isDone) await readBack()
  else {
    if (!ctx.enclave.sameRules(rules, request.before)) throw problem('signing_request_stale')
    if (await isOutdated(ctx, grant, request)) throw problem('signing_request_stale')
    await sendSignedRequest(ctx, lease, {
      request,
      toSign,
      assertion: signature.assertion,
      markSubmitted: markSubmitted(grant, { ...request, submittedBy: actor }),
      keepSignature: keepSignature(ctx, signature, {
        ...{ workspaceId: grant.workspaceId, mode: grant.mode, actor, statement: null },
        kind: change === 'activate' ? 'grant' : 'revocation',
        subject: grant.id,
        usableUntil: fenceOf(request),
      }),
      readBack,
    })
  }
  const signedSince = issuedAt(request)
  const by = isDone ? (request.submittedBy ?? actor) : actor
  return await recordChange(ctx, lease, { grant, change, rules: after, actor: by, signedSince })
}
