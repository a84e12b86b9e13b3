import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Agent } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

export function agentsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'agents'],
    queryFn: async ({ signal }) =>
      (await request<{ agents: readonly Agent[] }>('GET', `${workspacePath(slug, 'agents')}?mode=${mode}`, { signal }))
        .agents,
  })
}

export function agentQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'agents', id],
    queryFn: async ({ signal }) =>
      (await request<{ agent: Agent }>('GET', `${workspacePath(slug, 'agents', id)}?mode=${mode}`, { signal })).agent,
  })
}

/** Makes an agent, or answers the one that has this id already. */
export async function createAgent(slug: string, mode: Mode, id: string): Promise<Agent> {
  return (await request<{ agent: Agent }>('POST', workspacePath(slug, 'agents'), { body: { mode, id } })).agent
}

/** Its connections end with it. 409 `has_active_grants` while it has grants that are not revoked. */
export async function deleteAgent(slug: string, mode: Mode, id: string): Promise<void> {
  await request('DELETE', `${workspacePath(slug, 'agents', id)}?mode=${mode}`)
}
