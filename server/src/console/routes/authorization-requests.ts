import type { AuthorizationRequest } from '../../domain/connections/authorization-request.ts'
import { getAuthorizationRequest } from '../../domain/connections/queries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ROUTES, type AuthorizationRequest as RequestView } from '../contract/connections.ts'

/** What an application asks for, for the page on which a person decides. The decision itself is posted to `oauth/`. */
export function addAuthorizationRequestRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ROUTES.getAuthorizationRequest,
    handler: async (request) => {
      return { request: formatRequest(await getAuthorizationRequest(ctx, { handle: request.params.handle })) }
    },
  })
}

function formatRequest(asked: AuthorizationRequest): RequestView {
  const redirect = new URL(asked.redirectUri)
  return {
    client: {
      name: asked.client.name,
      redirect_host: redirect.host,
      redirect_uri_kind: redirect.protocol === 'https:' ? 'https' : 'loopback',
      registered_at: asked.client.createdAt.toISOString(),
    },
    scopes: asked.scopes,
    agent_id: asked.agentId,
    expires_at: asked.expiresAt.toISOString(),
  }
}
