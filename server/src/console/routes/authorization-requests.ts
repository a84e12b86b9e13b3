import { getAuthorizationRequest } from '../../domain/connections/queries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Door } from '../door.ts'
import { HandleParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

/** What an application asks for, for the page on which a person decides about it. Nothing of it is decided here. */
export function addAuthorizationRequestRoute(http: HttpServer, door: Door): void {
  http.get('/console/authorization-requests/:handle', { schema: { params: HandleParams } }, async (request) => {
    getVisitor(request)
    const asked = await getAuthorizationRequest(door.ctx, { handle: request.params.handle })
    const redirect = new URL(asked.redirectUri)
    return {
      request: {
        client: {
          name: asked.client.name,
          redirect_host: redirect.host,
          redirect_uri_kind: redirect.protocol === 'https:' ? 'https' : 'loopback',
          registered_at: asked.client.createdAt.toISOString(),
        },
        scopes: asked.scopes,
        agent_id: asked.agentId,
        expires_at: asked.expiresAt.toISOString(),
      },
    }
  })
}
