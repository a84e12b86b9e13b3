import type { HttpServer } from '../http/open-http.ts'
import { InvalidRequest } from './oauth-error.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Adds a route that rejects every method that the path does not support, before the body is read. It responds with 405
 * and `Allow` (RFC 9110, section 15.5.6). `besides` are methods that another route handles.
 */
export function rejectOtherMethods(
  scope: HttpServer,
  path: string,
  { allowed, besides = [] }: { allowed: readonly string[]; besides?: readonly string[] },
): void {
  const allow = allowed.join(', ')
  scope.route({
    method: METHODS.filter((method) => !allowed.includes(method) && !besides.includes(method)),
    url: path,
    exposeHeadRoute: false,
    config: { rejectsAll: true },
    schema: { hide: true },
    onRequest: async () => {
      throw new InvalidRequest(`This endpoint supports ${allow} only.`, { status: 405, headers: { Allow: allow } })
    },
    handler: async () => undefined,
  })
}
