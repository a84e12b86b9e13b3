import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnavailable } from '../../chain/errors.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { paymentCallFailed } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { referenceId } from './derived-ids.ts'
import { failPayment } from './fail-payment.ts'
import { getPayment } from './get-payment.ts'
import { getSigningParties } from './get-signing-parties.ts'
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

/**
 * How long we try to resume a payment. This leaves time for one complete attempt of another process, for the time in
 * which its request could still arrive, and for one attempt of ours.
 */
const RESUME_MS_MAX = 2 * ATTEMPT_MS + 2 * PAYMENT_FENCE_MARGIN_MS
const POLL_FIRST_MS = 25
const POLL_GROWTH = 1.3
const POLL_MAX_MS = 500
/**
 * If a search of the chain proved nothing, it is repeated after a random wait between this time and twice this time.
 * The random wait spreads the searches of many processes.
 */
const UNPROVEN_POLL_MS = 1_000
/**
 * How many requests may expire before we give up. After the first response we know the enclave's time, so if a second
 * request expires, wrong clocks are not the cause.
 */
const EXPIRED_MAX = 2

/**
 * Finds out what happened to a transfer if we do not know whether the enclave accepted it, sends it again if necessary,
 * and returns it (D23). Returns a purchase as it is. Called in three cases: a retry has the same idempotency key,
 * another request with the same key was faster, or the first request expired too early.
 *
 * While another process holds the claim on the payment's attempt, this function waits for that process. A transfer that
 * the enclave has accepted is recorded and never sent again. Otherwise the payment is sent again, but only under three
 * conditions (D24b): no request of an earlier attempt can still arrive, the grant is still valid, and the send window
 * is not over.
 */
export async function resumePayment(ctx: Context, known: Payment): Promise<Payment> {
  if (known.kind === 'x402') return known
  const deadline = AbortSignal.timeout(RESUME_MS_MAX)
  let payment: Payment = known
  let isFenced = false
  let expired = 0
  for (let pollMs = POLL_FIRST_MS; !deadline.aborted; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
    const now = ctx.clock.now()
    if (!isOutcomeUnknown(payment) && !isHashExpected(payment, now)) return payment
    const isAttemptFree = payment.attemptUntil === null || payment.attemptUntil <= now
    const mayAttempt = isOutcomeUnknown(payment) && isAttemptFree
    if (mayAttempt && (!isFenced || isFenceOver(payment, ctx.enclave.toEnclaveTime(now)))) {
      const claimed = await ctx.db.write(claimAttempt(payment, now, new Date(now.getTime() + ATTEMPT_MS)))
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

/**
 * Returns whether the payment was accepted so recently that the request that sent it still waits for the transaction
 * hash. We wait as well, so that both callers get the same result.
 */
function isHashExpected({ status, txHash, acceptedAt }: Payment, now: Date): boolean {
  const isWaiting = status === 'pending' && txHash === null && acceptedAt !== null
  return isWaiting && now.getTime() - acceptedAt.getTime() < HASH_WAIT_MS
}

type AttemptResult =
  | { readonly kind: 'done'; readonly payment: Payment }
  /** Nothing was sent, because an earlier request may still arrive at the enclave. */
  | { readonly kind: 'fenced' }
  /** Nothing was sent, because the request had already expired by the enclave's clock. */
  | { readonly kind: 'expired' }
  /** Nothing was sent, because the chain does not show yet whether an earlier request was carried out. */
  | { readonly kind: 'unproven' }

/**
 * Looks up a payment whose attempt we have claimed, first at the enclave and then on the chain. Sends the payment if
 * that is safe.
 */
async function makeAttempt(ctx: Context, payment: Payment, now: Date): Promise<AttemptResult> {
  const { transfer, providerTime } = await releaseOnFailure(
    ctx,
    payment,
    ctx.enclave.findTransfer(referenceId(payment), payment.workspaceId),
  )
  if (transfer !== null) return { kind: 'done', payment: await recordAcceptance(ctx, { payment, accepted: transfer }) }
  // Compare with the enclave's own time, because the enclave decides whether a request has expired.
  const isSafe = isFenceOver({ ...payment, requestExpiresAt: null, attemptUntil: null }, providerTime)
  if (!isSafe) {
    await release(ctx, payment)
    return { kind: 'fenced' }
  }
  if (payment.fencedUntil !== null) {
    // The enclave may have carried out an earlier request without keeping a record of it, so search the chain.
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
  const ready = await ctx.db.write(setRequestExpiry(payment, expiresAt))
  return ready === null ? { kind: 'fenced' } : await submitPayment(ctx, { payment: ready, signing })
}

/**
 * Awaits `work`, and releases the attempt if it fails. Nothing was sent, so the next attempt does not have to wait
 * until this one expires.
 */
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
  await ctx.db.write(releaseAttempt(payment, { mayArrive: false, reason: payment.pendingReason, nextLookupAt: next }), {
    isOutcome: true,
  })
}
