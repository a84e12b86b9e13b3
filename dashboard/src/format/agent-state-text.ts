import type { Agent, AgentState } from '@bursar/server/src/console/contract/agents.ts'

/** The label of each agent state. The grant that puts an agent into a state has the same label as this state. */
export const AGENT_STATE_LABELS: Readonly<Record<AgentState, string>> = {
  active: 'Active',
  pending: 'Awaiting signature',
  suspended: 'Suspended',
  expired: 'Expired',
  no_grant: 'No grant',
}

/** Explains why an agent in this state can’t spend, and when it can. Null if it can spend now. */
export function explainAgentState(state: AgentState): { readonly why: string; readonly next: string } | null {
  switch (state) {
    case 'active':
      return null
    case 'pending':
      return { why: 'its grant is not signed yet', next: 'It can spend once the wallet’s owner has signed the grant.' }
    case 'suspended':
      return {
        why: 'its grant is suspended',
        next: 'It can spend again once the wallet’s owner has resumed the grant with a signature, or signed another one.',
      }
    case 'expired':
      return {
        why: 'its grant has expired',
        next: 'It can spend again once the wallet’s owner has signed a grant with a later end date.',
      }
    case 'no_grant':
      return { why: 'it has no grant', next: 'It can spend once a wallet’s owner has signed a grant for it.' }
  }
}

/** An agent in a list of choices: its ID, and its label if it has one. */
export function formatAgentChoice({ id, label }: Pick<Agent, 'id' | 'label'>): string {
  return label === null ? id : `${id} (${label})`
}
