import { confirmHeldKeys } from '../../domain/keys/confirm-held-keys.ts'
import { getKey, listHeldKeys, listKeys } from '../../domain/keys/queries.ts'
import { issueKey } from '../../domain/keys/issue-key.ts'
import { renameKey } from '../../domain/keys/rename-key.ts'
import { revokeKey } from '../../domain/keys/revoke-key.ts'
import { rotateKey } from '../../domain/keys/rotate-key.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { checkName } from '../../values/name.ts'
import { toScopes } from '../../values/scope.ts'
import type { ConsoleContext } from '../console-context.ts'
import { KEY_ROUTES } from '../contract/keys.ts'
import { memberOf, currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { formatIssuedKey, formatKey } from '../format-key.ts'
import { parseNewAgentId } from '../parse-body.ts'

/** Adds the endpoints for a workspace's API keys. Creating and rotating a key require a recent passkey proof (D59). */
export function addKeyRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...KEY_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const keys = await listKeys(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { keys: keys.map((key) => formatKey(key, ctx.clock.now())) }
    },
  })

  http.route({
    ...KEY_ROUTES.issue,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, agent_id: agentId, scopes } = request.body
      const name = checkName(request.body.name)
      const issued = await issueKey(ctx, {
        workspaceId,
        mode,
        name,
        agentId: agentId === undefined ? null : parseNewAgentId(agentId, 'agent_id'),
        scopes: scopes === undefined ? null : toScopes(scopes),
        actor,
      })
      return reply.code(201).send(formatIssuedKey(issued, getCurrentSession(request)))
    },
  })

  http.route({
    ...KEY_ROUTES.listHeld,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const keys = await listHeldKeys(ctx, { workspaceId: workspace.id })
      return { keys: keys.map((key) => formatKey(key, ctx.clock.now())) }
    },
  })

  http.route({
    ...KEY_ROUTES.confirmHeld,
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const { confirm } = request.body
      const decided = await confirmHeldKeys(ctx, { workspaceId, user: getCurrentSession(request), confirm })
      return { confirmed: decided.confirmed.map(({ id }) => id), revoked: decided.revoked.map(({ id }) => id) }
    },
  })

  http.route({
    ...KEY_ROUTES.rename,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      await renameKey(ctx, { workspaceId, id: request.params.id, name: request.body.name, actor })
      return {}
    },
  })

  http.route({
    ...KEY_ROUTES.rotate,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const { id } = request.params
      const { graceUntil, ...issued } = await rotateKey(ctx, { workspaceId, id, actor })
      return reply
        .code(201)
        .send({ ...formatIssuedKey(issued, getCurrentSession(request)), grace_until: graceUntil.toISOString() })
    },
  })

  http.route({
    ...KEY_ROUTES.revoke,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { id } = request.params
      await revokeKey(ctx, { workspaceId, id, actor })
      return { key: formatKey(await getKey(ctx, { workspaceId, id }), ctx.clock.now()) }
    },
  })
}
