import type { Agent } from '../../api/wire-spending.ts'
import { StatusBadge } from '../../components/status-badge.tsx'

/** Whether an agent may spend at all. */
export function AgentBadge({ agent }: { readonly agent: Agent }) {
  if (agent.status === 'active') return <StatusBadge tone="success">Active</StatusBadge>
  if (agent.pending_signers > 0) return <StatusBadge tone="warning">Waits for a signature</StatusBadge>
  return <StatusBadge tone="neutral">No grant</StatusBadge>
}
