import type { Clock } from '../clock.ts'
import { createAgents } from './agents.ts'
import type { OutboundRules } from './policy.ts'
import type { Outbound } from './send-request.ts'

/**
 * Prepares connections to URLs that users have chosen, as `policy` allows. `close` ends all connections, including
 * those in use.
 */
export function openOutbound(deps: { policy: OutboundRules; clock: Clock }): Outbound & { close(): void } {
  const agents = createAgents(deps.policy, deps.clock)
  return { ...deps, agents, close: () => agents.close() }
}
