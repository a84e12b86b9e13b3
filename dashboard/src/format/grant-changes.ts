import type { GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import { formatAmount, toMicro } from './amount.ts'
import { formatTime } from './date.ts'

interface TermChange {
  readonly name: string
  readonly before: string
  readonly after: string
}

export interface GrantChanges {
  readonly terms: readonly TermChange[]
  /**
   * Addresses added to and removed from the list. Both are empty if the grant or its replacement allows any recipient.
   */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** The differences between a grant and its replacement, term by term. */
export function listChanges(before: GrantTerms, after: GrantTerms): GrantChanges {
  const added = without(after.recipient_allowlist, before.recipient_allowlist)
  const removed = without(before.recipient_allowlist, after.recipient_allowlist)
  const terms = [
    ...amountChange('Per-payment limit', before.max_per_tx_usdc, after.max_per_tx_usdc),
    ...amountChange('24-hour limit', before.daily_cap_usdc, after.daily_cap_usdc),
    ...(added.length + removed.length === 0
      ? []
      : [{ name: 'Recipients', before: countRecipients(before), after: countRecipients(after) }]),
    ...(formatEnd(before) === formatEnd(after)
      ? []
      : [{ name: 'End date', before: formatEnd(before), after: formatEnd(after) }]),
    ...(formatPurchases(before) === formatPurchases(after)
      ? []
      : [{ name: 'Purchases', before: formatPurchases(before), after: formatPurchases(after) }]),
  ]
  const areLists = before.recipient_allowlist.length > 0 && after.recipient_allowlist.length > 0
  return { terms, added: areLists ? added : [], removed: areLists ? removed : [] }
}

function amountChange(name: string, before: string, after: string): readonly TermChange[] {
  if (toMicro(before) === toMicro(after)) return []
  return [{ name, before: `${formatAmount(before)} USDC`, after: `${formatAmount(after)} USDC` }]
}

function countRecipients({ recipient_allowlist: { length } }: GrantTerms): string {
  if (length === 0) return 'any recipient'
  return length === 1 ? '1 address' : `${length} addresses`
}

function formatEnd({ expires_at }: GrantTerms): string {
  return expires_at === null ? 'none' : formatTime(expires_at)
}

function formatPurchases({ x402 = false }: GrantTerms): string {
  return x402 ? 'allowed' : 'not allowed'
}

function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const others = new Set(other.map((address) => address.toLowerCase()))
  return list.filter((address) => !others.has(address.toLowerCase()))
}
