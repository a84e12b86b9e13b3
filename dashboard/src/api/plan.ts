import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import type { PlanUse } from './wire.ts'
import { workspacePath } from './workspaces.ts'

export function planQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'plan'],
    queryFn: async ({ signal }) =>
      (await request<{ use: PlanUse }>('GET', workspacePath(slug, 'plan'), { signal })).use,
  })
}
