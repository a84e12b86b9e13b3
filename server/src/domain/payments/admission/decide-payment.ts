import { formatCoin, type GasFunds } from '../../../values/gas.ts'
import { formatAmount, type MicroUsdc } from '../../../values/money.ts'
import type { Refusal } from '../../../values/problem.ts'
import type { GrantPolicy } from '../../grants/grant.ts'
import { decideLimits, type TransferRequest } from '../../grants/decide-limits.ts'
import { nextMonthOf } from '../../plans/plan.ts'

export interface PaymentDecisionInput {
  readonly agentExists: boolean
  readonly walletExists: boolean
  /** The agent's active grant on the wallet; null if there is none or it is suspended. */
  readonly policy: GrantPolicy | null
  readonly request: TransferRequest
  readonly spent24hMicro: MicroUsdc
  /** The plan's monthly allowance and how much of it is used; null if nothing is counted (test mode, or no limit). */
  readonly allowance: { readonly allowance: number; readonly used: number } | null
  /** Null while the chain is unavailable. All other limits are still checked. */
  readonly balanceMicro: MicroUsdc | null
  /** What has left the wallet, or is about to, and does not show in the balance yet. */
  readonly unminedMicro: MicroUsdc
  /** What the wallet has for gas and what it needs; null if gas is sponsored, or the chain is unavailable. */
  readonly gas: GasFunds | null
  readonly now: Date
}

/** Decides whether a payment is allowed. Returns null, or the first refusal in the documented order (D18). */
export function decidePayment(payment: PaymentDecisionInput): Refusal | null {
  const { request, policy, spent24hMicro, now, allowance, balanceMicro, unminedMicro, gas } = payment
  if (!payment.agentExists) return { code: 'agent_not_found' }
  if (!payment.walletExists) return { code: 'wallet_not_found' }
  if (policy === null) return { code: 'permission_not_found' }
  const refusal = decideLimits(policy, { request, spent24hMicro, now })
  if (refusal !== null) return refusal
  if (allowance !== null && allowance.used >= allowance.allowance) {
    return { code: 'plan_cap_exceeded', details: { ...allowance, resets_at: nextMonthOf(now).toISOString() } }
  }
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
