import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { SCOPES } from '../../values/scope.ts'
import { Empty, mode, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

const scopes = list(Type.Enum([...SCOPES]))

/** An application, as lists show it. */
export const ClientSchema = Type.Object({
  name: Type.String(),
  /** The host of the client's metadata document, which identifies the client; null for a client that registered. */
  document_host: orNull(Type.String()),
  redirect_hosts: list(Type.String()),
})

const ConnectionSchema = Type.Object({
  id: Type.String(),
  client: ClientSchema,
  mode,
  agent_id: Type.String(),
  scopes,
  user_name: Type.String(),
  created_at: isoTime(),
  expires_at: isoTime(),
  /** When a request last used one of the connection's tokens; null if none ever did. */
  last_used_at: orNull(isoTime()),
})

const AuthorizationRequestSchema = Type.Object({
  client: Type.Object({
    /** The name that the client gave itself. Nobody has verified it. */
    name: Type.String(),
    /** The host of the client's metadata document, which identifies the client; null for a client that registered. */
    document_host: orNull(Type.String()),
    redirect_host: Type.String(),
    redirect_uri_kind: Type.Enum(['https', 'loopback']),
    registered_at: isoTime(),
  }),
  scopes,
  agent_id: orNull(Type.String()),
  expires_at: isoTime(),
})

export type Connection = Shape<typeof ConnectionSchema>
export type AuthorizationRequest = Shape<typeof AuthorizationRequestSchema>
export type Scope = Connection['scopes'][number]

export const CONNECTION_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/connections',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode: Type.Optional(mode) }),
      response: { 200: Type.Object({ connections: list(ConnectionSchema) }) },
    },
  },
  revoke: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/connections/:id',
    config: { needs: 'manageConnections', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: Empty } },
  },
  /**
   * Returns what an application asks for. The page sends the person's decision to an endpoint of `oauth/`, as a form.
   */
  getAuthorizationRequest: {
    method: 'GET',
    url: '/console/authorization-requests/:handle',
    config: { needs: 'session', proof: READS, bucket: 'dashboard' },
    schema: {
      params: Type.Object({ handle: Type.String() }),
      response: { 200: Type.Object({ request: AuthorizationRequestSchema }) },
    },
  },
} as const satisfies ConsoleRoutes
