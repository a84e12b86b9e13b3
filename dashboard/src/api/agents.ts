import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { request } from './request.ts'

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
