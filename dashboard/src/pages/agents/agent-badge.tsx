import type { AgentState } from '@bursar/server/src/console/contract/agents.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { AGENT_STATE_LABELS } from '../../format/agent-state-text.ts'

const TONES: Readonly<Record<AgentState, Tone>> = {
  active: 'success',
  pending: 'warning',
  suspended: 'danger',
  expired: 'danger',
  no_grant: 'neutral',
}

/** Whether an agent can pay now, and if not, why. */
export function AgentBadge({ state }: { readonly state: AgentState }) {
  return <StatusBadge tone={TONES[state]}>{AGENT_STATE_LABELS[state]}</StatusBadge>
}
