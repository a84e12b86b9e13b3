import { setTimeout as delay } from 'node:timers/promises'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findSigningParties, type SigningParties } from './admission/store.ts'
import { getPayment } from './get-payment.ts'
import { ATTEMPT_MS, FENCE_MARGIN_MS, isFenceOver, isUnsent, type Payment } from './payment.ts'
import { recordEnclaveFind } from './record-enclave-find.ts'
import { giveBackAttempt, takeAttempt } from './store.ts'
import { callFailed, submitPayment } from './submit-payment.ts'

/** Long enough for one whole attempt of another process, its fence, and then one of ours. */
const DRIVE_MS_MAX = 2 * ATTEMPT_MS + 2 * FENCE_MARGIN_MS
const POLL_FIRST_MS = 25
const POLL_GROWTH = 1.3
const POLL_MAX_MS = 500

/**
 * Drives on a payment whose outcome at the enclave is not known, and answers with the outcome (D23): whoever retries
 * with its key, and whoever lost the race for it. While another process holds the attempt, that one is waited for. What
 * the enclave has accepted is recorded, never sent again; it is sent again only once no request of an earlier attempt
 * can arrive any more, and while its grant still holds.
 */
export async function drivePayment(ctx: Context, known: Payment): Promise<Payment> {
  const deadline = AbortSignal.timeout(DRIVE_MS_MAX)
  let payment = known
  let lookedUp = false
  for (let pollMs = POLL_FIRST_MS; !deadline.aborted; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
    if (!isUnsent(payment)) return payment
    const now = ctx.clock.now()
    const mayAttempt = payment.attemptUntil === null || payment.attemptUntil <= now
    if (mayAttempt && (!lookedUp || isFenceOver(payment, now))) {
      const held = await ctx.db.write(takeAttempt(payment, now, new Date(now.getTime() + ATTEMPT_MS)))
      const driven = held === null ? null : await attempt(ctx, held, now)
      if (driven !== null) return driven
      lookedUp = held !== null
    }
    await delay(pollMs)
    payment = await getPayment(ctx, payment)
  }
  throw callFailed(payment)
}

/** Looks the payment up, then sends it if that is safe; answers null, and lets go, where the fence is not over yet. */
async function attempt(ctx: Context, payment: Payment, now: Date): Promise<Payment | null> {
  const found = await letGoOnFailure(ctx, payment, ctx.enclave.findTransfer(payment.id))
  if (found !== null) return await recordEnclaveFind(ctx, { payment, found })
  if (payment.fencedUntil !== null && now.getTime() < payment.fencedUntil.getTime() + FENCE_MARGIN_MS) {
    await ctx.db.write(giveBackAttempt(payment, { unanswered: false }))
    return null
  }
  const signing = await letGoOnFailure(ctx, payment, readSigning(ctx, payment))
  return await submitPayment(ctx, { payment, signing })
}

/** Who signs, if the grant still holds: it may have been suspended, revoked or have expired since the reservation. */
async function readSigning(ctx: Context, payment: Payment): Promise<SigningParties> {
  const signing = await ctx.db.read(findSigningParties(payment))
  if (signing === null) throw problem('permission_not_found')
  if (signing.expiresAt !== null && ctx.clock.now() >= signing.expiresAt) throw problem('permission_expired')
  return signing
}

/** Nothing was sent: the attempt is given back, so that the next one need not wait for its end. */
async function letGoOnFailure<Result>(ctx: Context, payment: Payment, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    await ctx.db.write(giveBackAttempt(payment, { unanswered: false }))
    throw error instanceof EnclaveUnavailable ? callFailed(payment, error) : error
  }
}
