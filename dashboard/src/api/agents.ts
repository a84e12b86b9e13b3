import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

/** The agents are fetched again at this interval, because grants expire and 24-hour windows move on as time passes. */
const REFRESH_MS = 60_000

export function agentsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'agents'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/agents', input)).agents
    },
    refetchInterval: REFRESH_MS,
  })
}

export function agentQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'agents', id],
    queryFn: async ({ signal }) => {
      const input = { params: { slug, id }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/agents/:id', input)).agent
    },
    refetchInterval: REFRESH_MS,
  })
}

/** Creates an agent, or returns the existing one with this id. */
export async function createAgent(slug: string, mode: Mode, id: string): Promise<Agent> {
  const input = { params: { slug }, body: { mode, id } }
  return (await request('POST /console/workspaces/:slug/agents', input)).agent
}

/**
 * Deletes an agent and ends its connections. Throws 409 `has_active_grants` while the agent has a grant that is not
 * revoked.
 */
export async function deleteAgent(slug: string, mode: Mode, id: string): Promise<void> {
  await request('DELETE /console/workspaces/:slug/agents/:id', { params: { slug, id }, query: { mode } })
}
