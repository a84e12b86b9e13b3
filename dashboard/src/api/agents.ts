import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { request } from './request.ts'

/** Creates an agent, or returns the existing one with this id. */
export async function createAgent(slug: string, mode: Mode, id: string): Promise<Agent> {
  const input = { params: { slug }, body: { mode, id } }
  return (await request('POST /console/workspaces/:slug/agents', input)).agent
}
