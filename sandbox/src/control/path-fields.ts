import type { FastifyRequest } from 'fastify'
import { Fields } from './fields.ts'

/** Returns the workspace's slug in a path such as `/workspaces/:slug/keys`. */
export function slugIn(request: Pick<FastifyRequest, 'params'>): string {
  return new Fields(request.params).text('slug')
}

/** Returns the id in a path such as `/grants/:id/sign`. */
export function idIn(request: Pick<FastifyRequest, 'params'>): string {
  return new Fields(request.params).text('id')
}
