import swagger from '@fastify/swagger'
import type { Context } from '../domain/context.ts'
import type { HttpServer } from '../http/open-http.ts'
import { createAuthenticate } from './authenticate.ts'
import { addAgentRoutes, type Authenticate } from './routes/agents.ts'
import { addMeRoute } from './routes/me.ts'
import { addPaymentRoutes } from './routes/payments.ts'
import { ErrorSchema } from './schemas.ts'

/** The door `/v1`, and its contract at `/openapi.json`, made from the routes' own schemas. */
export async function addApi(http: HttpServer, ctx: Context, { baseUrl }: { baseUrl: string }): Promise<void> {
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bursar',
        version: 'v1',
        description: 'Lets software agents pay in USDC within bounds that their owners have signed.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`svc_test_…` or `svc_live_…`; the prefix is the mode.',
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    refResolver: { buildLocalReference: ({ $id }) => (typeof $id === 'string' ? $id : 'unnamed') },
  })
  const authenticate: Authenticate = (bucket) => createAuthenticate(ctx, { baseUrl }, bucket)
  http.addSchema(ErrorSchema)
  addAgentRoutes(http, ctx, authenticate)
  addPaymentRoutes(http, ctx, authenticate)
  addMeRoute(http, ctx, authenticate)
  http.get('/openapi.json', { schema: { hide: true } }, async () => http.swagger())
}
