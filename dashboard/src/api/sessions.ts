import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await request('GET /console/sessions', { signal })).sessions,
})

/** Signs the user out in one browser. */
export async function endSession(id: string): Promise<void> {
  await request('DELETE /console/sessions/:id', { params: { id } })
}
