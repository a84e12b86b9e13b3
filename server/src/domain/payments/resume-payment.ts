import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnavailable } from '../../chain/errors.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { paymentCallFailed, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findSigningParties, type SigningParties } from './admission/admission-store.ts'
import { failPayment } from './fail-payment.ts'
import { getPayment } from './get-payment.ts'
import { nextLookupAt } from './lookups/lookup-schedule.ts'
import { matchTransfer } from './lookups/find-on-chain.ts'
import {
  ATTEMPT_MS,
  PAYMENT_FENCE_MARGIN_MS,
  HASH_WAIT_MS,
  isFenceOver,
  isOutcomeUnknown,
  isTooOldToSend,
  type Payment,
} from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { claimAttempt, releaseAttempt, setRequestExpiry } from './payments-store.ts'
import { submitPayment } from './submit-payment.ts'

/** Long enough for one whole attempt of another process, its fence, and then one of ours. */
const RESUME_MS_MAX = 2 * ATTEMPT_MS + 2 * PAYMENT_FENCE_MARGIN_MS
const POLL_FIRST_MS = 25
const POLL_GROWTH = 1.3
const POLL_MAX_MS = 500
/** A search of the chain that proved nothing is repeated after this time to twice this time, so that searches spread out. */
const UNPROVEN_POLL_MS = 1_000
/** After one response we know the provider's time, so a second expiry in a row has another cause. */
const EXPIRED_MAX = 2

/**
 * Brings a payment whose outcome at the enclave is unknown to its outcome, and returns it (D23). Called for a retry with
 * the same key, and for a request that lost the race for the key. While another process holds the attempt, it waits for
 * that process. A transfer that the enclave has accepted is recorded and never sent again. Anything else is sent again
 * only when no request of an earlier attempt can still arrive, while the grant is still valid, and while the payment is
 * young enough (D24b).
 */
export async function resumePayment(ctx: Context, known: Payment): Promise<Payment> {
  const deadline = AbortSignal.timeout(RESUME_MS_MAX)
  let payment = known
  let isFenced = false
  let expired = 0
  for (let pollMs = POLL_FIRST_MS; !deadline.aborted; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
    const now = ctx.clock.now()
    if (!isOutcomeUnknown(payment) && !isHashExpected(payment, now)) return payment
    const isAttemptFree = payment.attemptUntil === null || payment.attemptUntil <= now
    const mayAttempt = isOutcomeUnknown(payment) && isAttemptFree
    if (mayAttempt && (!isFenced || isFenceOver(payment, ctx.enclave.toEnclaveTime(now)))) {
      const claimed = await ctx.db.runDurable(claimAttempt(payment, now, new Date(now.getTime() + ATTEMPT_MS)))
      const result = claimed === null ? null : await makeAttempt(ctx, claimed, now)
      if (result?.kind === 'done') return result.payment
      if (result?.kind === 'expired') expired += 1
      if (expired >= EXPIRED_MAX) break
      if (result?.kind === 'unproven') pollMs = UNPROVEN_POLL_MS + randomInt(UNPROVEN_POLL_MS)
      isFenced = result?.kind === 'fenced'
    }
    await delay(pollMs)
    payment = await getPayment(ctx, payment)
  }
  throw paymentCallFailed(payment)
}

/** Shortly after acceptance, the request that sent the payment waits for its hash. So do we, to return the same result. */
function isHashExpected({ status, txHash, acceptedAt }: Payment, now: Date): boolean {
  const isWaiting = status === 'pending' && txHash === null && acceptedAt !== null
  return isWaiting && now.getTime() - acceptedAt.getTime() < HASH_WAIT_MS
}

type AttemptResult =
  | { readonly kind: 'done'; readonly payment: Payment }
  /** Nothing was sent: an earlier request may still arrive. */
  | { readonly kind: 'fenced' }
  /** Nothing was sent: the request had expired by the provider's clock. */
  | { readonly kind: 'expired' }
  /** Nothing was sent: the chain does not show yet whether an earlier request was carried out. */
  | { readonly kind: 'unproven' }

/** Looks the claimed payment up at the provider and on the chain, then sends it if that is safe. */
async function makeAttempt(ctx: Context, payment: Payment, now: Date): Promise<AttemptResult> {
  const { transfer, providerTime } = await releaseOnFailure(ctx, payment, ctx.enclave.findTransfer(payment.id))
  if (transfer !== null) return { kind: 'done', payment: await recordAcceptance(ctx, { payment, accepted: transfer }) }
  // The provider's own time decides, because it is the provider that rejects an expired request.
  const isSafe = isFenceOver({ ...payment, requestExpiresAt: null, attemptUntil: null }, providerTime)
  if (!isSafe) {
    await release(ctx, payment)
    return { kind: 'fenced' }
  }
  if (payment.fencedUntil !== null) {
    // An earlier request may have been carried out although the provider has no record of it.
    const search = await releaseOnFailure(ctx, payment, matchTransfer(ctx, payment))
    if (search.kind === 'found') return { kind: 'done', payment: search.payment }
    if (search.kind === 'unproven') {
      await release(ctx, payment)
      return { kind: 'unproven' }
    }
  }
  if (isTooOldToSend(payment, now)) {
    return { kind: 'done', payment: await failPayment(ctx, { payment, code: 'never_received' }) }
  }
  const signing = await releaseOnFailure(ctx, payment, getSigningParties(ctx, payment))
  const expiresAt = ctx.enclave.toEnclaveTime(payment.attemptUntil ?? now)
  const ready = await ctx.db.runDurable(setRequestExpiry(payment, expiresAt))
  return ready === null ? { kind: 'fenced' } : await submitPayment(ctx, { payment: ready, signing })
}

/** Throws if the grant is no longer valid: it may have been suspended, revoked or have expired since the reservation. */
async function getSigningParties(ctx: Context, payment: Payment): Promise<SigningParties> {
  const signing = await ctx.db.runRelaxed(findSigningParties(payment))
  if (signing === null) throw problem('permission_not_found')
  if (signing.expiresAt !== null && ctx.clock.now() >= signing.expiresAt) throw problem('permission_expired')
  return signing
}

/** Releases the attempt if the work fails. Nothing was sent, so the next attempt need not wait for this one to expire. */
async function releaseOnFailure<Result>(ctx: Context, payment: Payment, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    await release(ctx, payment)
    const isOutage = error instanceof EnclaveUnavailable || error instanceof ChainUnavailable
    throw isOutage ? paymentCallFailed(payment, error) : error
  }
}

async function release(ctx: Context, payment: Payment): Promise<void> {
  const next = nextLookupAt(payment.lookups, ctx.clock.now())
  await ctx.db.runDurable(
    releaseAttempt(payment, { mayArrive: false, reason: payment.pendingReason, nextLookupAt: next }),
  )
}
