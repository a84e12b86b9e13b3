import { getAuthorizationRequest } from '../../domain/connections/queries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ROUTES } from '../contract/connections.ts'
import { formatAuthorizationRequest } from '../format-connection.ts'

/**
 * Adds the endpoint that returns what an application asks for. The consent page shows it, and posts the person's
 * decision to an endpoint of `oauth/`.
 */
export function addAuthorizationRequestRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ROUTES.getAuthorizationRequest,
    handler: async (request) => {
      const asked = await getAuthorizationRequest(ctx, { handle: request.params.handle })
      return { request: formatAuthorizationRequest(asked) }
    },
  })
}
