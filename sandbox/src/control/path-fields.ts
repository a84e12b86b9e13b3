import type { FastifyRequest } from 'fastify'
import { Fields } from './fields.ts'

/** Reads the workspace's slug from a path such as `/workspaces/:slug/keys`. */
export function slugIn(request: Pick<FastifyRequest, 'params'>): string {
  return new Fields(request.params).text('slug')
}

/** Reads the id from a path such as `/grants/:id/sign`. */
export function idIn(request: Pick<FastifyRequest, 'params'>): string {
  return new Fields(request.params).text('id')
}
