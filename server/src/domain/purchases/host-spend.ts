import { Type } from 'typebox'
import { formatAmount } from '../../values/money.ts'
import { orNull, usdc } from '../../values/schema-fields.ts'

/**
 * What agents spent on the resources of one host. If `host` is null, this is the sum of all hosts that are not shown.
 */
export interface HostSpend {
  readonly host: string | null
  /** Whether the agents fetched the resources themselves, so that the host is only what they said. */
  readonly isClaimed: boolean
  readonly confirmedMicro: bigint
  readonly pendingMicro: bigint
  /** How many purchases are confirmed or pending. */
  readonly purchases: number
  /** How many hosts the sums are for. */
  readonly hosts: number
}

export const HostSpendSchema = Type.Object({
  host: orNull(Type.String()),
  is_claimed: Type.Boolean(),
  confirmed_usdc: usdc(),
  pending_usdc: usdc(),
  purchases: Type.Integer(),
  hosts: Type.Integer(),
})

/** Formats what was spent on a host for the dashboard. */
export function formatHostSpend({ host, isClaimed, confirmedMicro, pendingMicro, purchases, hosts }: HostSpend) {
  return {
    host,
    is_claimed: isClaimed,
    confirmed_usdc: formatAmount(confirmedMicro),
    pending_usdc: formatAmount(pendingMicro),
    purchases,
    hosts,
  }
}
