import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import type { Agent, Mode } from './wire.ts'
import { workspacePath } from './workspaces.ts'

export function agentsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'agents', mode],
    queryFn: async ({ signal }) =>
      (await request<{ agents: readonly Agent[] }>('GET', `${workspacePath(slug, 'agents')}?mode=${mode}`, { signal }))
        .agents,
  })
}

export async function createAgent(slug: string, mode: Mode, id: string): Promise<Agent> {
  return (await request<{ agent: Agent }>('POST', workspacePath(slug, 'agents'), { body: { mode, id } })).agent
}
