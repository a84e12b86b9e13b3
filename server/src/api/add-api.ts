import swagger from '@fastify/swagger'
import type { Context } from '../domain/context.ts'
import { allowCrossOrigin } from '../http/cross-origin.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { createAuthenticate } from './authenticate.ts'
import { addAgentRoutes, type Authenticate } from './routes/agents.ts'
import { addEventRoutes } from './routes/events.ts'
import { addMeRoute } from './routes/me.ts'
import { addPaymentRoutes } from './routes/payments.ts'
import { SCOPE_DESCRIPTIONS } from '../values/scope.ts'
import { ErrorSchema } from './schemas.ts'

/** Adds the `/v1` routes, and their contract at `/openapi.json`, which is generated from the routes' schemas. */
export async function addApi(http: HttpServer, ctx: Context, origins: Origins): Promise<void> {
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bursar',
        version: 'v1',
        description: 'Lets software agents pay in USDC within limits that their owners have signed.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`svc_test_…` or `svc_live_…`. The prefix decides the mode.',
          },
          accessToken: {
            type: 'oauth2',
            description: 'An OAuth access token (`svc_oat_…`) of a connection to which a person has consented.',
            flows: {
              authorizationCode: {
                authorizationUrl: `${origins.authUrl}/oauth/authorize`,
                tokenUrl: `${origins.authUrl}/oauth/token`,
                refreshUrl: `${origins.authUrl}/oauth/token`,
                scopes: SCOPE_DESCRIPTIONS,
              },
            },
          },
        },
      },
      security: [{ apiKey: [] }, { accessToken: [] }],
    },
    refResolver: { buildLocalReference: ({ $id }) => (typeof $id === 'string' ? $id : 'unnamed') },
  })
  const authenticate: Authenticate = (requirements) => createAuthenticate(ctx, origins, requirements)
  await http.register(async (scope: HttpServer) => {
    allowCrossOrigin(scope)
    scope.addSchema(ErrorSchema)
    addAgentRoutes(scope, ctx, authenticate)
    addPaymentRoutes(scope, ctx, authenticate)
    addMeRoute(scope, ctx, authenticate)
    addEventRoutes(scope, ctx, authenticate)
  })
  http.get('/openapi.json', { schema: { hide: true } }, async () => http.swagger())
}
