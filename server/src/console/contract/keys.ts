import { Type } from 'typebox'
import { HELD_KEYS_LISTED_MAX, KEY_STATES } from '../../domain/keys/api-key.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { SCOPES } from '../../values/scope.ts'
import { agentId, Empty, EmptyBody, id, mode, ModeQuery, name, NameBody, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'

const scope = Type.Enum([...SCOPES])

const ApiKeySchema = Type.Object({
  id: Type.String(),
  mode,
  name: Type.String(),
  /** The only agent as which the key may pay. Null if it may pay as every agent. */
  agent_id: orNull(Type.String()),
  /** Null if the key has all scopes. */
  scopes: orNull(list(scope)),
  /** The last four characters of the secret. */
  last4: Type.String(),
  created_at: isoTime(),
  /** The person who created the key. Null if the operator did. */
  created_by: orNull(Type.String()),
  /** Whether the person who created the key is no longer a member of the workspace. */
  by_former_member: Type.Boolean(),
  /** Until when the old key still authenticates after a rotation. */
  grace_until: orNull(isoTime()),
  revoked_at: orNull(isoTime()),
  state: Type.Enum([...KEY_STATES]),
  last_used_at: orNull(isoTime()),
})

/** What people choose when they create a key. */
const KeyTermsSchema = Type.Object({
  name,
  /** Binds the key to this agent. */
  agent_id: Type.Optional(agentId),
  /** Limits the key to these scopes. */
  scopes: Type.Optional(Type.Array(scope, { minItems: 1, uniqueItems: true })),
})

/** A new key with its secret. Only this response contains the secret. */
const IssuedApiKeySchema = Type.Object({
  key: ApiKeySchema,
  secret: Type.String(),
  /** Until when the old key still authenticates after a rotation. */
  grace_until: Type.Optional(isoTime()),
})

export type KeyTerms = Shape<typeof KeyTermsSchema>
export type ApiKey = Shape<typeof ApiKeySchema>
export type IssuedApiKey = Shape<typeof IssuedApiKeySchema>

export const KEY_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/keys',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ keys: list(ApiKeySchema) }) },
    },
  },
  issue: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys',
    config: { needs: 'manageKeys', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, ...KeyTermsSchema.properties }),
      response: { 201: IssuedApiKeySchema },
    },
  },
  /** The keys of both modes that wait for an owner to confirm them after a restore, oldest first. */
  listHeld: {
    method: 'GET',
    url: '/console/workspaces/:slug/held-keys',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      response: { 200: Type.Object({ keys: list(ApiKeySchema) }) },
    },
  },
  /** Confirms these held keys, and revokes all others that are listed. */
  confirmHeld: {
    method: 'POST',
    url: '/console/workspaces/:slug/held-keys',
    config: { needs: 'confirmHeldKeys', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ confirm: Type.Array(id, { maxItems: HELD_KEYS_LISTED_MAX, uniqueItems: true }) }),
      /** The ids of the keys that work again, and of those that were revoked. */
      response: { 200: Type.Object({ confirmed: list(Type.String()), revoked: list(Type.String()) }) },
    },
  },
  rename: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/keys/:id',
    config: { needs: 'manageKeys', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: NameBody, response: { 200: Empty } },
  },
  /** Replaces a key with a new key that has the same name and restrictions, but a new secret. */
  rotate: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys/:id/rotate',
    config: { needs: 'manageKeys', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: EmptyBody,
      response: { 201: IssuedApiKeySchema },
    },
  },
  revoke: {
    method: 'POST',
    url: '/console/workspaces/:slug/keys/:id/revoke',
    config: { needs: 'manageKeys', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 200: Type.Object({ key: ApiKeySchema }) } },
  },
} as const satisfies ConsoleRoutes
