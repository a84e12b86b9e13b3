import type { BalanceSnapshot } from '../../chain/balance-snapshots.ts'
import type { ChainUnavailable } from '../../chain/errors.ts'
import type { EnclaveOutOfReach } from '../../enclave/errors.ts'
import type { Address } from '../../values/address.ts'
import { formatCoin, type GasFunds } from '../../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../../values/money.ts'
import type { Refusal } from '../../values/problem.ts'
import { decideLimits, type LimitRefusal, type TransferRequest } from '../grants/decide-limits.ts'
import type { Payment } from '../payments/payment.ts'
import { nextMonthOf, PLANS } from '../plans/plan.ts'
import type { AdmissionFacts, AdmissionGrant } from './admission-store.ts'
import type { PaymentRequest } from './payment-request.ts'

/** What a wallet has, as it was read from the chain. */
export interface PayerFunds {
  /** The error if the chain could not be read, or if the enclave is out of reach. */
  readonly balance: BalanceSnapshot | ChainUnavailable | EnclaveOutOfReach
  /**
   * How much native coin the wallet has, and how much it needs for gas. Null if the wallet pays no gas, or if the chain
   * could not be read.
   */
  readonly gas: GasFunds | null
}

/** A request, with the balances that were read for it. */
export interface FundedRequest extends PayerFunds {
  readonly request: PaymentRequest
}

/** A request that is decided as of `now`. `contract` is the token's contract. */
export interface TimedRequest extends FundedRequest {
  readonly now: Date
  readonly contract: Address
}

/** What was read from the database for one request. */
export interface Reading {
  /** Null if there is no active grant, or if it is suspended. */
  readonly grant: AdmissionGrant | null
  /** The payment that already has the request's idempotency key. */
  readonly existing: Payment | null
  readonly facts: AdmissionFacts
  /** How much of the month's allowance is used. Null if payments of this mode do not count against the allowance. */
  readonly used: number | null
}

export type AdmissionDecision =
  | Allowed
  /** A payment with this idempotency key already exists. */
  | { readonly kind: 'existing'; readonly payment: Payment }
  /** The chain or the enclave is out of reach. Every other check has passed. */
  | { readonly kind: 'out_of_reach'; readonly error: ChainUnavailable | EnclaveOutOfReach }
  | Refused

export interface Allowed {
  readonly kind: 'allowed'
  readonly grant: AdmissionGrant
  readonly enclaveWalletId: string
  readonly facts: AdmissionFacts
  readonly balance: BalanceSnapshot
}

/** The payment is refused. `findRefusalDetails` completes the refusal. */
export interface Refused {
  readonly kind: 'refused'
  readonly refusal: DecidedRefusal
  readonly now: Date
  /**
   * How much has to leave the window of the 24-hour limit until the payment fits. Null if the limit itself is too low.
   */
  readonly excessMicro: bigint | null
}

export type FundsRefusal = Refusal<'insufficient_balance' | 'insufficient_gas'>

/**
 * Why a payment is rejected. Two refusals are not complete, because their details need one more read: `resets_at` if the
 * 24-hour limit does not allow the payment, and `reason` if there is no active grant.
 */
export type DecidedRefusal =
  | Refusal<'agent_not_found' | 'wallet_not_found' | 'plan_cap_exceeded'>
  | { readonly code: 'permission_not_found'; readonly details?: undefined }
  | LimitRefusal
  | FundsRefusal

/**
 * Decides whether a payment is allowed, from what was read for it. A refusal is the first one in the documented order
 * (D18).
 */
export function decideAdmission(
  { request: asked, contract, balance, gas, now }: TimedRequest,
  { grant, existing, facts, used }: Reading,
): AdmissionDecision {
  if (existing !== null) return { kind: 'existing', payment: existing }
  const refused = (refusal: DecidedRefusal, excessMicro: bigint | null = null): Refused => {
    return { kind: 'refused', refusal, now, excessMicro }
  }
  const { enclaveWalletId, spent24hMicro, unminedMicro } = facts
  if (!facts.agentExists) return refused({ code: 'agent_not_found' })
  if (enclaveWalletId === null) return refused({ code: 'wallet_not_found' })
  if (grant === null) return refused({ code: 'permission_not_found' })
  const request = { ...asked, contract }
  const balanceMicro = balance instanceof Error ? null : balance.balanceMicro
  const refusal =
    decideLimits(grant, { request, spent24hMicro, now }) ??
    decideAllowance(PLANS[facts.plan].monthlyAllowance, used, now) ??
    decideFunds({ request, balanceMicro, unminedMicro, gas })
  if (refusal !== null) {
    const { dailyCapMicro } = grant
    return refused(
      refusal,
      asked.amountMicro > dailyCapMicro ? null : spent24hMicro + asked.amountMicro - dailyCapMicro,
    )
  }
  if (balance instanceof Error) return { kind: 'out_of_reach', error: balance }
  return { kind: 'allowed', grant, enclaveWalletId, facts, balance }
}

function decideAllowance(
  allowance: number | null,
  used: number | null,
  now: Date,
): Refusal<'plan_cap_exceeded'> | null {
  if (allowance === null || used === null || used < allowance) return null
  return { code: 'plan_cap_exceeded', details: { allowance, used, resets_at: nextMonthOf(now).toISOString() } }
}

/** What a wallet has, and what its payments need. */
export interface FundsInput {
  readonly request: Pick<TransferRequest, 'amountMicro' | 'amountUsdc'>
  /** Null while the chain is unavailable. */
  readonly balanceMicro: MicroUsdc | null
  /** The amount that has left the wallet, or is about to leave it, and that the balance does not reflect yet. */
  readonly unminedMicro: MicroUsdc
  readonly gas: GasFunds | null
}

/**
 * Decides whether the wallet has enough USDC, and enough native coin for gas. These are the last checks of a payment,
 * and the only ones of a withdrawal (D62).
 */
export function decideFunds({ request, balanceMicro, unminedMicro, gas }: FundsInput): FundsRefusal | null {
  if (balanceMicro !== null && unminedMicro + request.amountMicro > balanceMicro) {
    const details = {
      balance_usdc: formatAmount(balanceMicro),
      pending_usdc: formatAmount(unminedMicro),
      requested: request.amountUsdc,
    }
    return { code: 'insufficient_balance', details }
  }
  if (gas !== null && gas.balanceWei < gas.neededWei) {
    const details = { coin: gas.coin, balance: formatCoin(gas.balanceWei), needed: formatCoin(gas.neededWei) }
    return { code: 'insufficient_gas', details }
  }
  return null
}
