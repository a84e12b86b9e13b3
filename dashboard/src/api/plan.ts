import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

export function planQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'plan'],
    queryFn: async ({ signal }) =>
      (await request('GET /console/workspaces/:slug/plan', { params: { slug }, signal })).use,
  })
}
