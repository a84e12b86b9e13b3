import type { HttpServer } from './open-http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route rejects every request, so there is nothing that a preflight could allow. */
    readonly rejectsAll?: true
  }
}

/** The response headers that pages of other sites may read. Browsers let them read a few other headers in any case. */
const EXPOSED_HEADERS = [
  'WWW-Authenticate',
  'Retry-After',
  'Request-Id',
  'Idempotent-Replayed',
  'Idempotent-Mismatch',
  'Service-Rotation-Grace-Until',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ')
const ALLOWED_HEADERS = 'authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name'
const PREFLIGHT_SECONDS = 24 * 60 * 60

/**
 * Lets pages of any site call the routes that are added to this scope afterwards (D41), and responds to the preflight
 * requests for them. These routes do not use cookies.
 *
 * @NOTE This is written by hand on purpose. `@fastify/cors` adds a route for `OPTIONS *`, and two scopes cannot both
 * add it. That route would also respond to preflights for the dashboard and for unknown paths, and would allow the same
 * methods at every path.
 */
export function allowCrossOrigin(scope: HttpServer): void {
  const methodsByPath = new Map<string, string[]>()

  scope.addHook('onRequest', (_request, reply, done) => {
    void reply.headers({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS })
    done()
  })
  scope.addHook('onRoute', ({ url, method, config }) => {
    if (method === 'OPTIONS' || config?.rejectsAll === true) return
    const known = methodsByPath.get(url)
    const methods = known ?? []
    methods.push(...[method].flat())
    methodsByPath.set(url, methods)
    if (known === undefined) addPreflight(scope, url, methods)
  })
}

/**
 * Adds the preflight response of a path. `methods` is read at each request, because routes that are added later extend
 * it.
 */
function addPreflight(scope: HttpServer, path: string, methods: readonly string[]): void {
  scope.options(path, { schema: { hide: true } }, async (_request, reply) => {
    return reply
      .code(204)
      .headers({
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': ALLOWED_HEADERS,
        'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      })
      .send()
  })
}
