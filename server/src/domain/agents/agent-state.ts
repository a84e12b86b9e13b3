/**
 * The states of an agent that people see. If the agent has several grants, the state that comes first in this list
 * wins.
 */
export const AGENT_STATES = ['active', 'pending', 'suspended', 'expired', 'no_grant'] as const

export type AgentState = (typeof AGENT_STATES)[number]

/** The state of a grant that is not revoked. */
export type LiveGrantState = Exclude<AgentState, 'no_grant'>

/**
 * Decides the state of an agent from the states of its unrevoked grants. An agent is active only if it can pay under at
 * least one of them: a signed grant that is suspended or expired does not count. If it cannot pay, a grant that awaits
 * its signature comes first, because this signature is what the agent needs.
 */
export function decideAgentState(grants: readonly LiveGrantState[]): AgentState {
  return AGENT_STATES.find((state) => state !== 'no_grant' && grants.includes(state)) ?? 'no_grant'
}
