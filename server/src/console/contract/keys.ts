import { Type } from 'typebox'
import { KEY_STATES } from '../../domain/keys/api-key.ts'
import { isoTime, list, nullable } from '../../values/schema-fields.ts'
import { EmptyBody, mode, ModeQuery, name, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

const ApiKeySchema = Type.Object({
  id: Type.String(),
  mode,
  name: Type.String(),
  created_at: isoTime(),
  /** Null: the operator. */
  created_by: nullable(Type.String()),
  /** After a rotation: until when the old key still authenticates. */
  grace_until: nullable(isoTime()),
  revoked_at: nullable(isoTime()),
  state: Type.Enum([...KEY_STATES]),
  last_used_at: nullable(isoTime()),
})

/** A new key with its secret, which is returned only this once. */
const IssuedApiKeySchema = Type.Object({
  key: ApiKeySchema,
  secret: Type.String(),
  /** After a rotation: until when the old key still authenticates. */
  grace_until: Type.Optional(isoTime()),
})

export type ApiKey = Shape<typeof ApiKeySchema>
export type IssuedApiKey = Shape<typeof IssuedApiKeySchema>

export const KEY_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/keys',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ keys: list(ApiKeySchema) }) },
    },
  },
  issue: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys',
    config: { role: 'admin', proof: 'required', bucket: 'dashboard' },
    schema: { params: SlugParams, body: Type.Object({ mode, name }), response: { 201: IssuedApiKeySchema } },
  },
  /** Issues a new key of the same name. */
  rotate: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys/:id/rotate',
    config: { role: 'admin', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: EmptyBody,
      response: { 201: IssuedApiKeySchema },
    },
  },
  revoke: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys/:id/revoke',
    config: { role: 'admin', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 200: Type.Object({ key: ApiKeySchema }) } },
  },
} as const satisfies ConsoleRoutes
