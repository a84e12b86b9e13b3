import type { Clock } from '../clock.ts'
import { createAgents } from './agents.ts'
import type { OutboundPolicy } from './policy.ts'
import type { Outbound } from './post-json.ts'

/** Opens outbound connections under a policy. `close` ends all of them, those in use too. */
export function openOutbound(deps: { policy: OutboundPolicy; clock: Clock }): Outbound & { close(): void } {
  const agents = createAgents(deps.policy)
  return { ...deps, agents, close: () => agents.close() }
}
