import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnavailable } from '../../chain/errors.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findSigningParties, type SigningParties } from './admission/admission-store.ts'
import { failPayment } from './fail-payment.ts'
import { getPayment } from './get-payment.ts'
import { nextLookAt } from './tracing/look-schedule.ts'
import {
  ATTEMPT_MS,
  PAYMENT_FENCE_MARGIN_MS,
  HASH_WAIT_MS,
  isFenceOver,
  isTooOldToSend,
  isUnsent,
  type Payment,
} from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { armAttempt, giveBackAttempt, claimAttempt } from './payments-store.ts'
import { callFailed, submitPayment } from './submit-payment.ts'
import { claimTransfer } from './tracing/trace-transfer.ts'

/** Long enough for one whole attempt of another process, its fence, and then one of ours. */
const DRIVE_MS_MAX = 2 * ATTEMPT_MS + 2 * PAYMENT_FENCE_MARGIN_MS
const POLL_FIRST_MS = 25
const POLL_GROWTH = 1.3
const POLL_MAX_MS = 500
/** A search of the chain that proved nothing is repeated so much later, and up to twice that: others may search too. */
const UNPROVEN_POLL_MS = 1_000
/** Our idea of the provider's time is right after one response; a second expiry in a row has another cause. */
const EXPIRED_MAX = 2

/**
 * Drives on a payment whose outcome at the enclave is not known, and returns it with its outcome (D23): for a caller that
 * retries with its key, and for one that lost the race for it. While another process holds the attempt, that one is
 * waited for. What the enclave has accepted is recorded, never sent again; it is sent again only once no request of an
 * earlier attempt can arrive any more, while its grant still holds, and while it is young enough (D24b).
 */
export async function resumePayment(ctx: Context, known: Payment): Promise<Payment> {
  const deadline = AbortSignal.timeout(DRIVE_MS_MAX)
  let payment = known
  let lookedUp = false
  let expired = 0
  for (let pollMs = POLL_FIRST_MS; !deadline.aborted; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
    const now = ctx.clock.now()
    if (!isUnsent(payment) && !isHashDue(payment, now)) return payment
    const mayAttempt = isUnsent(payment) && (payment.attemptUntil === null || payment.attemptUntil <= now)
    if (mayAttempt && (!lookedUp || isFenceOver(payment, ctx.enclave.toEnclaveTime(now)))) {
      const held = await ctx.db.runDurable(claimAttempt(payment, now, new Date(now.getTime() + ATTEMPT_MS)))
      const attempted = held === null ? null : await attempt(ctx, held, now)
      if (attempted?.kind === 'done') return attempted.payment
      if (attempted?.kind === 'expired') expired += 1
      if (expired >= EXPIRED_MAX) break
      if (attempted?.kind === 'unproven') pollMs = UNPROVEN_POLL_MS + randomInt(UNPROVEN_POLL_MS)
      lookedUp = held !== null && attempted?.kind === 'fenced'
    }
    await delay(pollMs)
    payment = await getPayment(ctx, payment)
  }
  throw callFailed(payment)
}

/** Accepted a moment ago: the request that sent it waits for the hash, and both give the same answer. */
function isHashDue({ status, txHash, acceptedAt }: Payment, now: Date): boolean {
  const isWaiting = status === 'pending' && txHash === null && acceptedAt !== null
  return isWaiting && now.getTime() - acceptedAt.getTime() < HASH_WAIT_MS
}

type Attempt =
  | { readonly kind: 'done'; readonly payment: Payment }
  /** Nothing was sent: an earlier request may still arrive. */
  | { readonly kind: 'fenced' }
  /** Nothing was sent: the request had expired by the provider's clock. */
  | { readonly kind: 'expired' }
  /** Nothing was sent: the chain does not show yet whether an earlier request was carried out. */
  | { readonly kind: 'unproven' }

/** Looks the payment up, then sends it if that is safe. */
async function attempt(ctx: Context, payment: Payment, now: Date): Promise<Attempt> {
  const { transfer, answeredAt } = await letGoOnFailure(ctx, payment, ctx.enclave.findTransfer(payment.id))
  if (transfer !== null) return { kind: 'done', payment: await recordAcceptance(ctx, { payment, found: transfer }) }
  // By the provider's own time: it is the provider that rejects what has expired.
  const isSafe = isFenceOver({ ...payment, requestExpiresAt: null, attemptUntil: null }, answeredAt)
  if (!isSafe) {
    await letGo(ctx, payment)
    return { kind: 'fenced' }
  }
  if (payment.fencedUntil !== null) {
    // An earlier request may have been carried out although the provider keeps no record of it.
    const trace = await letGoOnFailure(ctx, payment, claimTransfer(ctx, payment))
    if (trace.kind === 'found') return { kind: 'done', payment: trace.payment }
    if (trace.kind === 'open') {
      await letGo(ctx, payment)
      return { kind: 'unproven' }
    }
  }
  if (isTooOldToSend(payment, now)) {
    return { kind: 'done', payment: await failPayment(ctx, { payment, code: 'never_received' }) }
  }
  const signing = await letGoOnFailure(ctx, payment, readSigning(ctx, payment))
  const expiresAt = ctx.enclave.toEnclaveTime(payment.attemptUntil ?? now)
  const armed = await ctx.db.runDurable(armAttempt(payment, expiresAt))
  return armed === null ? { kind: 'fenced' } : await submitPayment(ctx, { payment: armed, signing })
}

/** Who signs, if the grant still holds: it may have been suspended, revoked or have expired since the reservation. */
async function readSigning(ctx: Context, payment: Payment): Promise<SigningParties> {
  const signing = await ctx.db.runRelaxed(findSigningParties(payment))
  if (signing === null) throw problem('permission_not_found')
  if (signing.expiresAt !== null && ctx.clock.now() >= signing.expiresAt) throw problem('permission_expired')
  return signing
}

/** Nothing was sent: the attempt is given back, so that the next one need not wait for its end. */
async function letGoOnFailure<Result>(ctx: Context, payment: Payment, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    await letGo(ctx, payment)
    const isOutage = error instanceof EnclaveUnavailable || error instanceof ChainUnavailable
    throw isOutage ? callFailed(payment, error) : error
  }
}

async function letGo(ctx: Context, payment: Payment): Promise<void> {
  const next = nextLookAt(payment.looks, ctx.clock.now())
  await ctx.db.runDurable(
    giveBackAttempt(payment, { mayArrive: false, reason: payment.pendingReason, nextLookAt: next }),
  )
}
