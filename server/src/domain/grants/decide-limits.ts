import type { Address } from '../../values/address.ts'
import { formatAmount, type MicroUsdc } from '../../values/money.ts'
import type { DetailsOf } from '../../values/problem-details.ts'
import type { Refusal } from '../../values/problem.ts'
import type { GrantPolicy } from './grant.ts'

export interface TransferRequest {
  /** `x402` for a purchase. If missing, it is a transfer. */
  readonly kind?: 'transfer' | 'x402' | undefined
  readonly contract: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it, in USDC. */
  readonly amountUsdc: string
}

type CapDetails = DetailsOf<'daily_cap_exceeded'>

/**
 * Why the limits of a grant do not allow a transfer. A refusal by the 24-hour limit has no `resets_at` yet. The caller
 * adds it, because that time depends on earlier payments.
 */
export type LimitRefusal =
  | Refusal<
      | 'permission_expired'
      | 'purchases_not_allowed'
      | 'contract_not_allowed'
      | 'recipient_not_allowed'
      | 'amount_too_large'
    >
  | { readonly code: 'daily_cap_exceeded'; readonly details: Omit<CapDetails, 'resets_at'> }

/**
 * Decides whether a policy allows a transfer now. `spent24hMicro` is what the agent spent from the wallet in the last
 * 24 hours. Returns null if the transfer is allowed. Otherwise returns the first refusal in the documented order (D18).
 * A total exactly at the limit is allowed (specification, part 4, rule 6).
 */
export function decideLimits(
  policy: GrantPolicy,
  { request, spent24hMicro, now }: { request: TransferRequest; spent24hMicro: MicroUsdc; now: Date },
): LimitRefusal | null {
  const { kind, contract, to, amountMicro, amountUsdc } = request
  // The owner signs the end of a grant in whole seconds, and the enclave and the evidence go by what was signed.
  if (policy.expiresAt !== null && toSecond(now) >= toSecond(policy.expiresAt)) {
    return { code: 'permission_expired', details: { expires_at: policy.expiresAt.toISOString() } }
  }
  if (kind === 'x402' && !policy.x402) return { code: 'purchases_not_allowed' }
  if (!policy.contractAllowlist.includes(contract)) {
    return {
      code: 'contract_not_allowed',
      details: { contract_allowlist: policy.contractAllowlist, requested: contract },
    }
  }
  if (policy.recipientAllowlist.length > 0 && !policy.recipientAllowlist.includes(to)) {
    return { code: 'recipient_not_allowed', details: { recipient_allowlist: policy.recipientAllowlist, requested: to } }
  }
  if (amountMicro > policy.maxPerTxMicro) {
    const details = { max_per_tx_usdc: formatAmount(policy.maxPerTxMicro), requested: amountUsdc }
    return { code: 'amount_too_large', details }
  }
  if (spent24hMicro + amountMicro > policy.dailyCapMicro) {
    return { code: 'daily_cap_exceeded', details: { ...capDetails(policy, spent24hMicro), requested: amountUsdc } }
  }
  return null
}

function toSecond(time: Date): number {
  return Math.floor(time.getTime() / 1_000)
}

function capDetails(policy: GrantPolicy, spent24hMicro: bigint): Omit<CapDetails, 'resets_at' | 'requested'> {
  return {
    daily_cap_usdc: formatAmount(policy.dailyCapMicro),
    spent_24h_usdc: formatAmount(spent24hMicro),
    remaining_24h_usdc: formatAmount(remainingMicro(policy.dailyCapMicro, spent24hMicro)),
  }
}

/**
 * Returns how much of a limit is left. The result is never negative, although a replacement grant may have a lower
 * limit than what was already spent.
 */
export function remainingMicro(capMicro: bigint, spentMicro: bigint): bigint {
  return spentMicro >= capMicro ? 0n : capMicro - spentMicro
}
