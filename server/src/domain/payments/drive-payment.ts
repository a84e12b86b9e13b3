import { setTimeout as delay } from 'node:timers/promises'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import type { Context } from '../context.ts'
import { findSigningParties } from './admission/store.ts'
import { getPayment } from './get-payment.ts'
import { ATTEMPT_MS, isUnsent, type Payment } from './payment.ts'
import { recordEnclaveFind } from './record-enclave-find.ts'
import { giveBackAttempt, takeAttempt } from './store.ts'
import { callFailed, submitPayment } from './submit-payment.ts'

/** Long enough for one whole attempt of another process, and then one of ours. */
const DRIVE_MS_MAX = 2 * ATTEMPT_MS
const POLL_MS = 50

/**
 * Drives on a payment whose outcome at the enclave is not known, and answers with the outcome (D23): whoever retries
 * with its key, and whoever lost the race for it. While another process holds the attempt, that one is waited for.
 */
export async function drivePayment(ctx: Context, known: Payment): Promise<Payment> {
  const polls = Math.ceil(DRIVE_MS_MAX / POLL_MS)
  let payment = known
  for (let poll = 0; poll < polls; poll += 1) {
    if (!isUnsent(payment)) return payment
    const now = ctx.clock.now()
    if (payment.attemptUntil === null || payment.attemptUntil <= now) {
      const held = await ctx.db.write(takeAttempt(payment, now, new Date(now.getTime() + ATTEMPT_MS)))
      if (held !== null) return await attempt(ctx, held)
    }
    await delay(POLL_MS)
    payment = await getPayment(ctx, payment)
  }
  throw callFailed(payment)
}

/** What the enclave has already accepted is recorded, never sent again; only what it never received is sent. */
async function attempt(ctx: Context, payment: Payment): Promise<Payment> {
  try {
    const found = await ctx.enclave.findTransfer(payment.id)
    if (found !== null) return await recordEnclaveFind(ctx, { payment, found })
  } catch (error) {
    if (!(error instanceof EnclaveUnavailable)) throw error
    await ctx.db.write(giveBackAttempt(payment))
    throw callFailed(payment, error)
  }
  const signing = await ctx.db.read(findSigningParties({ ...payment, wallet: payment.walletAddress }))
  if (signing === null) throw new Error(`payment ${payment.id} has no wallet or signer`)
  return await submitPayment(ctx, { payment, signing })
}
