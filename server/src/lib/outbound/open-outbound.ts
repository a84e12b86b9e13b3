import type { Clock } from '../clock.ts'
import { createAgents } from './agents.ts'
import type { OutboundPolicy } from './policy.ts'
import type { Outbound } from './post-json.ts'

/** Opens a way to the outside under a policy. `close` ends its connections, those in use too. */
export function openOutbound(deps: { policy: OutboundPolicy; clock: Clock }): Outbound & { close(): void } {
  const agents = createAgents(deps.policy)
  return { ...deps, agents, close: () => agents.close() }
}
