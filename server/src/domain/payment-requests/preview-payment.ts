import type { MicroUsdc } from '../../values/money.ts'
import { settleWalletPayments } from '../payments/settle-wallet-payments.ts'
import type { Context } from '../context.ts'
import type { Payment } from '../payments/payment.ts'
import { findPaymentByKey } from '../payments/payments-store.ts'
import { monthOf } from '../plans/plan.ts'
import { findUsedAllowance } from '../plans/plans-store.ts'
import { findAdmissionGrants, readFacts, type AdmissionFacts, type AdmissionGrant } from './admission-store.ts'
import { decideAdmission, type PayerFunds, type AdmissionDecision } from './decide-admission.ts'
import { findRefusalDetails } from './find-refusal-details.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { readPayerFunds } from './read-payer-funds.ts'
import { toFactsRead } from './reserve-payments.ts'
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
 * If every other check has passed, throws `ChainUnavailable` if the chain cannot be read, and `EnclaveOutOfReach` if the
 * enclave is out of reach.
 */
export async function previewPayment(ctx: Context, request: PaymentRequest): Promise<PaymentPreview> {
  if (!mayPayAs(request, request.agentId)) {
    const payment = await findExisting(ctx, request)
    return payment === null
      ? { kind: 'refused', refusal: { code: 'agent_not_authorized' } }
      : { kind: 'existing', payment }
  }
  const decision = await decideFreely(ctx, request, await readPayerFunds(ctx, request))
  if (decision.kind !== 'refused' || decision.refusal.code !== 'insufficient_balance')
    return await toPreview(ctx, request, decision)
  // The balance that was read may not include a recent deposit, or our own payments in recent blocks.
  await settleWalletPayments(ctx, request)
  return await toPreview(ctx, request, await decideFreely(ctx, request, await readPayerFunds(ctx, request, 0)))
}

async function toPreview(ctx: Context, request: PaymentRequest, decision: AdmissionDecision): Promise<PaymentPreview> {
  switch (decision.kind) {
    case 'allowed': {
      const { grant, facts, balance } = decision
      return { kind: 'allowed', grant, facts, balanceMicro: balance.balanceMicro, amountMicro: request.amountMicro }
    }
    case 'refused':
      return { kind: 'refused', refusal: await findRefusalDetails(ctx, request, decision) }
    case 'out_of_reach':
      throw decision.error
    case 'existing':
      return decision
  }
}

/** Returns the payment that has the request's idempotency key, or null. It is not resumed. */
export async function findExisting(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, idempotencyKey }: Pick<PaymentRequest, 'workspaceId' | 'mode' | 'idempotencyKey'>,
): Promise<Payment | null> {
  return idempotencyKey === null ? null : await ctx.db.read(findPaymentByKey(workspaceId, mode, idempotencyKey))
}

/** Decides from the same facts as for a real payment, but reads them without locks. */
async function decideFreely(ctx: Context, request: PaymentRequest, funds: PayerFunds): Promise<AdmissionDecision> {
  const { db, clock, chains } = ctx
  const { workspaceId, mode } = request
  const timed = { request, ...funds, now: clock.now(), contract: chains[mode].usdc }
  const [grants, existing, facts, used] = await Promise.all([
    db.read(findAdmissionGrants([request])),
    findExisting(ctx, request),
    db.read(readFacts([toFactsRead(timed)], null)),
    mode === 'live' ? db.read(findUsedAllowance(workspaceId, monthOf(timed.now))) : null,
  ])
  const [found] = facts
  if (found === undefined) throw new Error('no facts were read')
  return decideAdmission(timed, { grant: grants.get(0) ?? null, existing, facts: found, used })
}
