import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { AgentGrants } from './use-agent-grants.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { AgentLimits } from './agent-limits.tsx'

interface ChosenAgentProps {
  readonly agent: Agent
  readonly limits: AgentGrants
  readonly isBuying: boolean
}

/** The limits of the chosen agent, while they load and afterwards. */
export function ChosenAgent({ agent, limits, isBuying }: ChosenAgentProps) {
  const { grants, recipients, error, onRetry } = limits
  if (grants !== undefined)
    return <AgentLimits agent={agent} grants={grants} recipients={recipients} isBuying={isBuying} />
  return error === null ? <Loading what="Loading the limits" /> : <ErrorNotice error={error} onRetry={onRetry} />
}
