import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import { findReplacedGrant, getGrant } from './queries.ts'
import { sameSigners, type Grant, type StoredSigningRequest } from './grant.ts'
import { checkEnclaveRecord, type Pause } from './check-enclave-record.ts'
import { getWalletAndSigner } from './get-wallet-and-signer.ts'
import { recordChange } from './record-change.ts'
import { grantRevoked } from './grant-problems.ts'
import { sendSignedRequest } from './send-signed-request.ts'
import { isOutdated, issuedAt } from './signing-request.ts'
import { withSignerLease, type SignerLease } from './with-signer-lease.ts'

/**
 * Sends the owner's signature to the enclave and records the result. The service verifies the signature first, and the
 * enclave verifies it again (D15).
 *
 * Errors: 400 `signature_invalid`; 409 `grant_not_pending` (nothing to sign), `grant_revoked`,
 * `signing_request_expired`, `signing_request_stale` (a newer request was prepared, the list of signers changed, or the
 * grant to replace was suspended meanwhile), `signer_change_under_way`; 500 `enclave_record_differs`: nothing was
 * recorded, and the same signature can be submitted again.
 *
 * @throws EnclaveUnavailable if the outcome is not known. The same signature can be submitted again.
 */
export async function submitSignature(
  ctx: Context,
  {
    accountId,
    grantId,
    assertion,
    actor,
    pause,
  }: {
    accountId: string
    grantId: string
    assertion: AuthenticationResponseJSON
    actor: Actor
    /** How to wait between reads of the enclave's record. Tests replace it. */
    pause?: Pause
  },
): Promise<Grant> {
  const grant = await getGrant(ctx, { accountId, grantId })
  const request = grant.signingRequest
  if (request === null) throw grant.status === 'revoked' ? grantRevoked(grant) : problem('grant_not_pending')
  const expiresAt = new Date(request.expires_at)
  if (ctx.clock.now() >= expiresAt) throw problem('signing_request_expired')

  const { wallet } = await getWalletAndSigner(ctx, grant)
  const { enclaveWalletId, owner } = wallet
  const { challenge } = ctx.enclave.buildSignerChange({ enclaveWalletId, signers: request.after, expiresAt })
  if (assertion.id === owner.credentialId && signsAnotherRequest(assertion, challenge))
    throw problem('signing_request_stale')
  await checkOwnerSignature(ctx, { owner, challenge, assertion })
  return await withSignerLease(ctx, { wallet, signed: request }, async (lease) => {
    const current = await getGrant(ctx, { accountId, grantId })
    const waiting = current.signingRequest
    if (current.status === 'revoked' || waiting === null || !isSameRequest(waiting, request)) {
      return checkSameResult(current, request)
    }
    return await applyRequest(ctx, lease, { grant: current, request: waiting, assertion, actor, pause })
  })
}

/** Returns whether the passkey signed another request, for example one that was prepared earlier. */
function signsAnotherRequest({ response }: AuthenticationResponseJSON, challenge: Uint8Array): boolean {
  try {
    const { challenge: signed } = decodeClientDataJSON(response.clientDataJSON)
    return typeof signed === 'string' && signed !== Buffer.from(challenge).toString('base64url')
  } catch {
    return false
  }
}

function isSameRequest(left: StoredSigningRequest, right: StoredSigningRequest): boolean {
  return left.change === right.change && left.expires_at === right.expires_at
}

/**
 * The request is gone: another caller may have submitted the same signature, dropped the grant, or prepared another
 * request before we held the lease. Returns the grant if it already has the signed status; otherwise throws.
 */
function checkSameResult(grant: Grant, { change }: StoredSigningRequest): Grant {
  if (grant.status === (change === 'activate' ? 'active' : 'revoked')) return grant
  throw grant.status === 'revoked' ? grantRevoked(grant) : problem('signing_request_stale')
}

interface Signed {
  readonly grant: Grant
  readonly request: StoredSigningRequest
  readonly assertion: AuthenticationResponseJSON
  readonly actor: Actor
  readonly pause: Pause | undefined
}

/**
 * Sends the request, unless the enclave's list is already as signed. In that case an earlier submission succeeded, and
 * the change is attributed to whoever made it.
 */
async function applyRequest(ctx: Context, lease: SignerLease, signed: Signed): Promise<Grant> {
  const { grant, request, assertion, actor, pause } = signed
  const { signers } = await ctx.enclave.readWallet(lease.wallet.enclaveWalletId)
  const isDone = sameSigners(signers, request.after)
  if (!isDone) {
    if (!sameSigners(signers, request.before)) throw problem('signing_request_stale')
    if (isOutdated(request, await findReplacedGrant(ctx, grant))) throw problem('signing_request_stale')
    await sendSignedRequest(ctx, lease, { grant, request, assertion: assertion.response, actor })
  }
  const { change, after } = request
  return await recordChange(ctx, lease, {
    grant,
    change,
    signers: await checkEnclaveRecord(ctx, { grant, wallet: lease.wallet, change, signers: after, pause }),
    actor: isDone ? (request.handed_in_by ?? actor) : actor,
    signedSince: issuedAt(request),
  })
}
