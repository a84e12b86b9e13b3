import { formatCoin, type GasFunds } from '../../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../../values/money.ts'
import type { Refusal } from '../../values/problem.ts'
import type { GrantPolicy } from '../grants/grant.ts'
import { decideLimits, type LimitRefusal, type TransferRequest } from '../grants/decide-limits.ts'
import { nextMonthOf } from '../plans/plan.ts'

export interface AdmissionInput {
  readonly agentExists: boolean
  readonly walletExists: boolean
  /** The terms of the agent's active grant on the wallet. Null if there is no active grant or it is suspended. */
  readonly policy: GrantPolicy | null
  readonly request: TransferRequest
  readonly spent24hMicro: MicroUsdc
  /**
   * The plan's monthly allowance, and how much of it is used. Null if payments are not counted (test mode, or a plan
   * without a limit).
   */
  readonly allowance: { readonly allowance: number; readonly used: number } | null
  /** The wallet's balance. Null while the chain is unavailable; all other limits are still checked. */
  readonly balanceMicro: MicroUsdc | null
  /** The amount that has left the wallet, or is about to leave it, and that the balance does not reflect yet. */
  readonly unminedMicro: MicroUsdc
  /**
   * How much native coin the wallet has, and how much it needs for gas. Null if gas is sponsored or the chain is
   * unavailable.
   */
  readonly gas: GasFunds | null
  readonly now: Date
}

export type FundsRefusal = Refusal<'insufficient_balance' | 'insufficient_gas'>

/**
 * Why a payment is rejected. Two refusals are not complete, because their details need one more read. The caller adds
 * `resets_at` if the 24-hour limit does not allow the payment, and `reason` if there is no active grant.
 */
export type DecidedRefusal =
  | Refusal<'agent_not_found' | 'wallet_not_found' | 'plan_cap_exceeded'>
  | { readonly code: 'permission_not_found'; readonly details?: undefined }
  | LimitRefusal
  | FundsRefusal

/**
 * Decides whether a payment is allowed. Returns null if it is. Otherwise returns the first refusal in the documented
 * order (D18).
 */
export function decideAdmission(payment: AdmissionInput): DecidedRefusal | null {
  const { request, policy, spent24hMicro, now, allowance, balanceMicro, unminedMicro, gas } = payment
  if (!payment.agentExists) return { code: 'agent_not_found' }
  if (!payment.walletExists) return { code: 'wallet_not_found' }
  if (policy === null) return { code: 'permission_not_found' }
  const refusal = decideLimits(policy, { request, spent24hMicro, now })
  if (refusal !== null) return refusal
  if (allowance !== null && allowance.used >= allowance.allowance) {
    return { code: 'plan_cap_exceeded', details: { ...allowance, resets_at: nextMonthOf(now).toISOString() } }
  }
  return decideFunds({ request, balanceMicro, unminedMicro, gas })
}

/**
 * Decides whether the wallet has enough USDC, and enough native coin for gas. These are the last checks of a payment,
 * and the only ones of a withdrawal (D62).
 */
export function decideFunds({
  request,
  balanceMicro,
  unminedMicro,
  gas,
}: Pick<AdmissionInput, 'balanceMicro' | 'unminedMicro' | 'gas'> & {
  readonly request: Pick<TransferRequest, 'amountMicro' | 'amountUsdc'>
}): FundsRefusal | null {
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
