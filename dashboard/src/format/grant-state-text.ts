import type { Grant, GrantState } from '@bursar/server/src/console/contract/grants.ts'

/**
 * The label of each status of a grant. The dashboard takes the status from the field `state`, which is more specific
 * than the field `status`.
 */
export const GRANT_STATE_LABELS: Readonly<Record<GrantState, string>> = {
  pending: 'Awaiting signature',
  active: 'Active',
  suspended: 'Suspended',
  expired: 'Expired',
  revoked: 'Revoked',
  replaced: 'Replaced',
}

/** Explains what the status of a grant means for payments, and what to do next. */
export function explainGrantState(grant: Pick<Grant, 'state' | 'status' | 'replaces' | 'activated_at'>): string {
  switch (grant.state) {
    case 'pending':
      return grant.replaces === null
        ? 'This grant is not in force yet. An owner of the wallet must sign it with their passkey.'
        : 'This replacement is not in force yet. The current grant applies until an owner of the wallet signs the replacement.'
    case 'active':
      return 'An owner of the wallet has signed this grant. It is in force.'
    case 'suspended':
      return 'The agent can’t pay. To let it pay again, an owner of the wallet must sign that the grant is resumed.'
    case 'expired':
      if (grant.status === 'pending')
        return 'This grant expired before it was signed. Discard it and create a new grant.'
      return 'This grant has expired, so the agent can’t pay. Replace it with a grant that has a later end date, or revoke it.'
    case 'revoked':
      return grant.activated_at === null
        ? 'This grant was revoked before it was signed. It was never in force.'
        : 'This grant was revoked permanently. To let the agent pay again, create a new grant.'
    case 'replaced':
      return 'This grant was replaced by a newer one.'
  }
}

/** Who can sign a pending grant. */
export function formatWaitsFor({
  is_mine_to_sign,
  other_signers,
}: Pick<Grant, 'is_mine_to_sign' | 'other_signers'>): string {
  const names = is_mine_to_sign ? ['you', ...other_signers] : other_signers
  if (names.length === 0) return 'Nobody who can sign'
  const text = new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Who prepared a grant. */
export function formatCreator({
  created_by,
  by_former_member,
}: Pick<Grant, 'created_by' | 'by_former_member'>): string {
  if (created_by === null) return 'Not recorded'
  return by_former_member ? `${created_by} (former member)` : created_by
}

/** The groups of the grants page. Grants that a user has to act on come first. */
export const GRANT_GROUPS = [
  { id: 'waiting', title: 'Awaiting signature', states: ['pending'] },
  { id: 'active', title: 'Active', states: ['active'] },
  { id: 'stopped', title: 'Suspended or expired', states: ['suspended', 'expired'] },
  { id: 'ended', title: 'Ended', states: ['revoked', 'replaced'] },
] as const satisfies readonly {
  readonly id: string
  readonly title: string
  readonly states: readonly GrantState[]
}[]

export type GrantGroup = (typeof GRANT_GROUPS)[number]

export function isInGroup(grant: Pick<Grant, 'state'>, group: GrantGroup): boolean {
  const states: readonly GrantState[] = group.states
  return states.includes(grant.state)
}
