import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import { StatusBadge } from '../../components/status-badge.tsx'

/** Whether an agent can spend. */
export function AgentBadge({ agent }: { readonly agent: Agent }) {
  if (agent.status === 'active') return <StatusBadge tone="success">Active</StatusBadge>
  if (agent.pending_signers > 0) return <StatusBadge tone="warning">Awaiting signature</StatusBadge>
  return <StatusBadge tone="neutral">No grant</StatusBadge>
}
