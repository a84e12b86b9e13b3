import type { FastifyReply } from 'fastify'
import type { HttpServer } from './open-http.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Adds a route for every method that the path does not support. `reject` responds with 405 and `Allow` (RFC 9110,
 * section 15.5.6), before the body is parsed. `besides` are methods that another route handles.
 */
export function addOtherMethods(
  scope: HttpServer,
  path: string,
  {
    allowed,
    besides = [],
    reject,
  }: {
    readonly allowed: readonly string[]
    readonly besides?: readonly string[]
    readonly reject: (reply: FastifyReply, allow: string) => unknown
  },
): void {
  const allow = allowed.join(', ')
  scope.route({
    method: METHODS.filter((method) => !allowed.includes(method) && !besides.includes(method)),
    url: path,
    exposeHeadRoute: false,
    config: { rejectsAll: true },
    schema: { hide: true },
    onRequest: async (_request, reply) => await reject(reply, allow),
    handler: async () => undefined,
  })
}
