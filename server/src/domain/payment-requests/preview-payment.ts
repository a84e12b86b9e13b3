import type { MicroUsdc } from '../../values/money.ts'
import { windowStart } from '../grants/spent-window.ts'
import type { Context } from '../context.ts'
import type { Payment } from '../payments/payment.ts'
import { findPaymentByKey } from '../payments/payments-store.ts'
import { monthOf } from '../plans/plan.ts'
import { findUsedAllowance } from '../plans/plans-store.ts'
import { findAdmissionGrant, readFacts, type AdmissionFacts, type AdmissionGrant } from './admission-store.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { readAdmission, type AdmissionReading, type FundedRequest } from './read-admission.ts'
import { withFunds } from './with-funds.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'

export type PaymentPreview =
  | {
      readonly kind: 'allowed'
      readonly grant: AdmissionGrant
      /**
       * What the agent spent from the wallet in the last 24 hours, and the sum of the payments that the balance does
       * not reflect yet.
       */
      readonly facts: Pick<AdmissionFacts, 'spent24hMicro' | 'unminedMicro'>
      readonly balanceMicro: MicroUsdc
      /** The amount of the payment. */
      readonly amountMicro: MicroUsdc
    }
  /** A payment with this idempotency key exists, so the request would return this payment and pay nothing. */
  | { readonly kind: 'existing'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: AdmissionRefusal }

/**
 * Decides on a payment request as `createPayment` does, with the same checks in the same order. Reserves and records
 * nothing (D55). Takes no lock, so the result can be out of date at once: another payment may use what is left.
 *
 * Throws `ChainUnavailable` if every other check has passed and the chain cannot be read.
 */
export async function previewPayment(ctx: Context, request: PaymentRequest): Promise<PaymentPreview> {
  if (!mayPayAs(request, request.agentId)) {
    const payment = await findExisting(ctx, request)
    return payment === null
      ? { kind: 'refused', refusal: { code: 'agent_not_authorized' } }
      : { kind: 'existing', payment }
  }
  const admission = await withFunds(ctx, request, async (funded) => {
    const now = ctx.clock.now()
    return await readAdmission(
      ctx,
      { ...funded, now },
      { read: () => readFreely(ctx, { ...funded, now }), run: (query) => ctx.db.runRelaxed(query) },
    )
  })
  if (admission.kind !== 'allowed') return admission
  const { grant, facts, balance } = admission
  return { kind: 'allowed', grant, facts, balanceMicro: balance.balanceMicro, amountMicro: request.amountMicro }
}

/** Returns the payment that has the request's idempotency key, or null. It is not resumed. */
export async function findExisting(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, idempotencyKey }: Pick<PaymentRequest, 'accountId' | 'mode' | 'idempotencyKey'>,
): Promise<Payment | null> {
  return idempotencyKey === null ? null : await ctx.db.runRelaxed(findPaymentByKey(accountId, mode, idempotencyKey))
}

/** Reads the same facts as for a real payment, but without locks. */
async function readFreely(
  { db }: Pick<Context, 'db'>,
  { request, balance, now }: FundedRequest & { readonly now: Date },
): Promise<AdmissionReading> {
  const { accountId, mode } = request
  const balanceBlock = balance?.blockNumber ?? 0n
  const [grant, existing, facts, used] = await Promise.all([
    db.runRelaxed(findAdmissionGrant(request)),
    findExisting({ db }, request),
    db.runRelaxed(readFacts(request, { now, windowStart: windowStart(now), balanceBlock, newest: null })),
    mode === 'live' ? db.runRelaxed(findUsedAllowance(accountId, monthOf(now))) : null,
  ])
  return { grant, existing, facts, used }
}
