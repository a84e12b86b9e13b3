import type { BalanceSnapshot } from '../../chain/balance-snapshots.ts'
import type { Query } from '../../db/query.ts'
import type { GasFunds } from '../../values/gas.ts'
import { CAP_WINDOW_MS, windowStart } from '../grants/spent-window.ts'
import type { Context } from '../context.ts'
import { findMissingGrantReason } from '../grants/missing-grant-store.ts'
import type { Payment } from '../payments/payment.ts'
import { PLANS } from '../plans/plan.ts'
import { findReleasingPayment, type AdmissionFacts, type AdmissionGrant } from './admission-store.ts'
import { decideAdmission, type DecidedRefusal } from './decide-admission.ts'
import type { PaymentRequest } from './payment-request.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'

/** A request, with the balances that were read for it. They are null while the chain cannot be read. */
export interface FundedRequest {
  readonly request: PaymentRequest
  readonly balance: BalanceSnapshot | null
  readonly gas: GasFunds | null
}

/** A request that is decided as of `now`. */
export interface TimedRequest extends FundedRequest {
  readonly now: Date
}

/** What was read from the database for one request. */
export interface AdmissionReading {
  readonly grant: AdmissionGrant | null
  /** The payment that already has the request's idempotency key. */
  readonly existing: Payment | null
  readonly facts: AdmissionFacts
  /** How much of the month's allowance is used. Null if payments of this mode do not count against the allowance. */
  readonly used: number | null
}

/** Runs one more query: in the payment's transaction for a payment, and without a transaction for a preview. */
type Run = <Result>(query: Query<Result>) => Promise<Result>

export type Admission =
  | {
      readonly kind: 'allowed'
      readonly grant: AdmissionGrant
      readonly facts: AdmissionFacts
      readonly balance: BalanceSnapshot
    }
  /** A payment with this idempotency key already exists. */
  | { readonly kind: 'existing'; readonly payment: Payment }
  /** The balance could not be read. Every other check has passed. */
  | { readonly kind: 'balance_unknown' }
  | { readonly kind: 'refused'; readonly refusal: AdmissionRefusal }

/** The payment is refused. One more read finds the details of the refusal. */
type Unexplained =
  | {
      readonly kind: 'unexplained'
      readonly refusal: Extract<DecidedRefusal, { readonly code: 'daily_cap_exceeded' }>
      readonly grant: AdmissionGrant
    }
  | {
      readonly kind: 'unexplained'
      readonly refusal: Extract<DecidedRefusal, { readonly code: 'permission_not_found' }>
      readonly grant: null
    }

/**
 * Reads the facts that a decision on a payment request needs, and decides (D18). The caller says how they are read: for
 * a payment, the wallet and the grant are locked; for a preview, they are not (D55). `run` runs one more query.
 */
export async function readAdmission(
  ctx: Pick<Context, 'chains'>,
  funded: TimedRequest,
  { read, run }: { readonly read: () => Promise<AdmissionReading>; readonly run: Run },
): Promise<Admission> {
  const reading = await read()
  const decision = decideReading(ctx, funded, reading)
  if (decision.kind !== 'unexplained') return decision
  const { refusal, grant } = decision
  if (grant === null) {
    const reason = await run(findMissingGrantReason(funded.request))
    return { kind: 'refused', refusal: { code: refusal.code, details: { reason } } }
  }
  const resetsAt = await findResetTime(run, { ...funded, grant, facts: reading.facts })
  return { kind: 'refused', refusal: { code: refusal.code, details: { ...refusal.details, resets_at: resetsAt } } }
}

/**
 * Returns whether the payment may already have been made, before the database was restored from a backup (D96). Then
 * `recoverOrReserve` must find it out before any limit is checked.
 */
export function mayBePaid(request: PaymentRequest, { existing, facts }: Omit<AdmissionReading, 'used'>): boolean {
  const { idempotencyKey, isLookedUp } = request
  return facts.hasUnexplained && existing === null && idempotencyKey !== null && isLookedUp !== true
}

/** Decides on a payment request from what was read for it (D18). Reads nothing more. */
export function decideReading(
  ctx: Pick<Context, 'chains'>,
  { request, balance, gas, now }: TimedRequest,
  { grant, existing, facts, used }: AdmissionReading,
): Admission | Unexplained {
  if (existing !== null && request.idempotencyKey !== null) return { kind: 'existing', payment: existing }
  const allowance = PLANS[facts.plan].monthlyAllowance
  const refusal = decideAdmission({
    ...facts,
    policy: grant,
    request: { ...request, contract: ctx.chains[request.mode].usdc },
    allowance: used === null || allowance === null ? null : { allowance, used },
    balanceMicro: balance?.balanceMicro ?? null,
    gas,
    now,
  })
  if (refusal?.code === 'daily_cap_exceeded') {
    if (grant === null) throw new Error('a payment without a grant exceeded its 24-hour limit')
    return { kind: 'unexplained', refusal, grant }
  }
  if (refusal?.code === 'permission_not_found') return { kind: 'unexplained', refusal, grant: null }
  if (refusal !== null) return { kind: 'refused', refusal }
  if (balance === null) return { kind: 'balance_unknown' }
  if (grant === null) throw new Error('a payment without a grant was allowed')
  return { kind: 'allowed', grant, facts, balance }
}

/**
 * Returns when the amount will fit into the 24-hour limit, as an ISO 8601 time (D18a). Null if waiting does not help.
 * This needs one more round trip, but only for a refused request.
 */
async function findResetTime(
  run: Run,
  { request, grant, facts, now }: { request: PaymentRequest; grant: AdmissionGrant; facts: AdmissionFacts; now: Date },
): Promise<string | null> {
  if (request.amountMicro > grant.dailyCapMicro) return null
  const neededMicro = facts.spent24hMicro + request.amountMicro - grant.dailyCapMicro
  const released = await run(findReleasingPayment(request, windowStart(now), neededMicro))
  return released === null ? null : new Date(released.getTime() + CAP_WINDOW_MS).toISOString()
}
