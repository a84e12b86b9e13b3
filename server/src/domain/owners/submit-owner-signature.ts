import { setTimeout as delay } from 'node:timers/promises'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { EnclaveRefused } from '../../enclave/errors.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { signerChangeUnderWay } from '../grants/grant-problems.ts'
import { leaseEndForSending, withSignerLease, type SignerLease } from '../grants/with-signer-lease.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import type { OwnerRequest } from './owner-request.ts'
import { markOwnerRequestSubmitted } from './owner-requests-store.ts'
import { extendSignerLease } from '../wallets/wallets-store.ts'
import type { EnclaveChange } from './enclave-change.ts'
import { makeOwnersChange } from './make-owners-change.ts'
import { getOwnerRequest, getRequestedWallet, toFenced } from './queries.ts'
import { recordOwnerChange } from './record-owner-change.ts'

/** The enclave's record is read at most this many times, because it may show the earlier owners for a moment. */
const READS_MAX = 5
/** The pause before the second read. Each later pause is twice as long. All pauses together take 3 seconds. */
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2

type Pause = (milliseconds: number) => Promise<unknown>

/**
 * Sends the owner's signature for a change of owners to the enclave, reads the result back and records it. The service
 * verifies the signature first, and the enclave verifies it again. Submitting the same signature again after the change
 * was recorded has no effect.
 *
 * Errors:
 * - 400 `signature_invalid`
 * - 404 `owner_request_not_found`, `passkey_not_found`
 * - 409 `signing_request_expired`, `signer_change_under_way`, `signer_not_configured`
 * - 409 `signing_request_stale`: the owners changed after the request was prepared.
 * - 500 `enclave_record_differs`: nothing was recorded, and the same signature can be submitted again.
 *
 * @throws EnclaveUnavailable if the outcome is not known. The same signature can be submitted again.
 */
export async function submitOwnerSignature(
  ctx: Context,
  {
    accountId,
    requestId,
    assertion,
    actor,
    pause = delay,
  }: {
    accountId: string
    requestId: string
    assertion: AuthenticationResponseJSON
    actor: Actor
    /** Waits between two reads of the enclave's record. Only tests pass this. */
    pause?: Pause
  },
): Promise<OwnerRequest> {
  const request = await getOwnerRequest(ctx, { accountId, requestId })
  if (request.doneAt !== null) return request
  if (ctx.clock.now() >= request.expiresAt) throw problem('signing_request_expired')
  const wallet = await getRequestedWallet(ctx, request)
  const change = makeOwnersChange(ctx, { wallet, request })
  change.checkSigner(assertion.id)
  await checkOwnerSignature(ctx, {
    wallet,
    challenge: change.challenge,
    requestedAt: request.createdAt,
    assertion,
  })
  return await withSignerLease(ctx, { wallet, signed: toFenced(request) }, async (lease) => {
    const current = await getOwnerRequest(ctx, { accountId, requestId })
    if (current.doneAt === null) await applyChange(ctx, lease, { request: current, change, assertion, actor, pause })
    return await getOwnerRequest(ctx, { accountId, requestId })
  })
}

interface SignedChange {
  readonly request: OwnerRequest
  readonly change: EnclaveChange
  readonly assertion: AuthenticationResponseJSON
  readonly actor: Actor
  readonly pause: Pause
}

/**
 * Sends the request and records the change. If the enclave has made it already, an earlier submission succeeded. Then
 * nothing is sent, and the change is attributed to the person who made that submission.
 */
async function applyChange(ctx: Context, lease: SignerLease, signed: SignedChange): Promise<void> {
  const { request, change, actor, pause } = signed
  const state = await change.readState()
  if (state === 'other') throw problem('signing_request_stale')
  if (state === 'after' && (await change.isRecorded())) return
  if (state === 'before') {
    const wasSent = lease.mayTakeEffect
    await send(ctx, lease, signed)
    await awaitChange(ctx, { request, change, pause })
    // The lease may be released only now. Until the reads show the change, another change would be prepared from the
    // old owners.
    lease.mayTakeEffect = wasSent
  }
  await recordOwnerChange(ctx, lease, {
    request,
    change,
    actor: state === 'after' ? (request.submittedBy ?? actor) : actor,
  })
}

/**
 * Sends the signed request. Before that, extends the lease to the time after which the request can no longer take
 * effect (decision 0022). The lease ends earlier only if the enclave rejected the request, or once the caller has read
 * the change back.
 */
async function send(
  ctx: Context,
  lease: SignerLease,
  { request, change, assertion, actor }: SignedChange,
): Promise<void> {
  const wasSent = lease.mayTakeEffect
  const until = leaseEndForSending(lease, toFenced(request))
  await ctx.db.transaction(async (transaction) => {
    const [isOurs, isOpen] = await transaction.batch([
      extendSignerLease(lease.wallet, lease.until, until),
      markOwnerRequestSubmitted(request, actor),
    ])
    if (!isOurs) throw signerChangeUnderWay(ctx.clock.now())
    if (!isOpen) throw problem('signing_request_stale')
    await change.prepare(transaction)
    await transaction.commit([])
  })
  lease.until = until
  lease.mayTakeEffect = true
  try {
    await change.apply(assertion.response)
  } catch (error) {
    // The request certainly had no effect if the enclave rejected it, or if the enclave's client never sent it.
    if (error instanceof EnclaveRefused || error instanceof TypeError) lease.mayTakeEffect = wasSent
    throw error
  }
}

/**
 * Waits until the enclave's record shows the change, because the enclave's response alone does not prove that the
 * change was made. Throws 500 `enclave_record_differs` if the record still differs after `READS_MAX` reads.
 */
async function awaitChange(
  ctx: Pick<Context, 'logger'>,
  { request, change, pause }: Pick<SignedChange, 'request' | 'change' | 'pause'>,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  for (let reads = 1; (await change.readState()) !== 'after'; reads += 1) {
    if (reads === READS_MAX) {
      ctx.logger.error({ request: request.id }, "the enclave's record of the owners does not match what was signed")
      throw problem('enclave_record_differs')
    }
    await pause(pauseMs)
    pauseMs *= PAUSE_GROWTH
  }
}
