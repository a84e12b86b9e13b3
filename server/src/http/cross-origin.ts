import type { FastifyReply } from 'fastify'
import type { HttpServer } from './open-http.ts'

/** What a page of another site may read of an answer, besides what every page may. */
const EXPOSED_HEADERS = [
  'WWW-Authenticate',
  'Retry-After',
  'Request-Id',
  'Idempotent-Replayed',
  'Service-Rotation-Grace-Until',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ')
const ALLOWED_HEADERS = 'authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name'
const PREFLIGHT_SECONDS = 24 * 60 * 60

/**
 * Lets pages of any site call the routes of this scope (D41), preflights at `paths` included. Without credentials: a
 * cookie of ours is neither sent nor looked at here.
 */
export function allowCrossOrigin(scope: HttpServer, paths: Readonly<Record<string, string>>): void {
  scope.addHook('onRequest', async (_request, reply) => allowAnyOrigin(reply))
  for (const [path, methods] of Object.entries(paths)) {
    scope.options(path, { schema: { hide: true } }, async (_request, reply) => {
      return reply
        .code(204)
        .headers({
          'Access-Control-Allow-Methods': methods,
          'Access-Control-Allow-Headers': ALLOWED_HEADERS,
          'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
        })
        .send()
    })
  }
}

function allowAnyOrigin(reply: FastifyReply): void {
  void reply.headers({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS })
}
