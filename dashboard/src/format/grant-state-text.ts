import type { Grant, GrantState } from '../api/wire-spending.ts'

/** A grant's state in a word. */
export const GRANT_STATE_LABELS: Readonly<Record<GrantState, string>> = {
  pending: 'Waits for a signature',
  active: 'Active',
  suspended: 'Suspended',
  expired: 'Expired',
  revoked: 'Revoked',
  replaced: 'Replaced',
}

/** What a grant's state means for payments, and what to do about it. */
export function explainGrantState(grant: Pick<Grant, 'state' | 'status' | 'replaces' | 'activated_at'>): string {
  switch (grant.state) {
    case 'pending':
      return grant.replaces === null
        ? 'It allows nothing yet. The wallet’s owner has to sign it with their passkey.'
        : 'It changes nothing yet. What it replaces stays as it is until the wallet’s owner has signed this one.'
    case 'active':
      return 'The wallet’s owner signed it, and it is in force.'
    case 'suspended':
      return 'No payment passes. Only a new signature brings it back: replace the policy, with the same terms if they are still right.'
    case 'expired':
      if (grant.status === 'pending')
        return 'Its end came before anybody signed it. Discard it, and create a new grant.'
      return 'Its end has come, and no payment passes. Replace the policy to let the agent go on, or revoke the grant.'
    case 'revoked':
      return grant.activated_at === null
        ? 'It was discarded before anybody signed it, and never allowed anything.'
        : 'It has ended for good. To let the agent pay again, create a new grant.'
    case 'replaced':
      return 'Another policy has taken its place.'
  }
}

/** The groups that a list of grants is looked through by: what waits for somebody comes first. */
export const GRANT_GROUPS = [
  { id: 'waiting', title: 'Waiting', states: ['pending'] },
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
