import type { Agent as DomainAgent } from '../domain/agents/agent.ts'
import { formatAgent } from '../domain/agents/format-agent.ts'
import type { Agent } from './contract/agents.ts'

/** Formats an agent as the dashboard shows it: the same fields as in `/v1`, and its state. */
export function formatAgentDetail(agent: DomainAgent): Agent {
  return { ...formatAgent(agent), state: agent.state }
}
