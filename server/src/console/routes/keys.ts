import { getKey } from '../../domain/keys/get-key.ts'
import { issueKey, type IssuedKey } from '../../domain/keys/issue-key.ts'
import { listKeys } from '../../domain/keys/list-keys.ts'
import { revokeKey } from '../../domain/keys/revoke-key.ts'
import { rotateKey } from '../../domain/keys/rotate-key.ts'
import type { Session } from '../../domain/sessions/session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { checkName } from '../../values/name.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatKey } from '../format-key.ts'
import { EmptyBody, ModeQuery, SlugIdParams, SlugParams } from '../schemas.ts'
import { ModeNameBody } from '../schemas-workspace.ts'
import { actorOf, getVisitor } from '../visitor.ts'

/** A workspace's API keys. What makes one takes a recent proof (D59). */
export function addKeyRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/keys',
    { schema: { params: SlugParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const keys = await listKeys(ctx, { accountId: account.id, mode: request.query.mode })
      return { keys: keys.map((key) => formatKey(key, ctx.clock.now())) }
    },
  )

  http.post(
    '/console/workspaces/:slug/keys',
    { schema: { params: SlugParams, body: ModeNameBody } },
    async (request, reply) => {
      const { accountId, actor, session } = await adminOf(door, request)
      const { mode } = request.body
      const name = checkName(request.body.name)
      const issued = await issueKey(ctx, { accountId, mode, name, actor })
      return reply.code(201).send(formatIssued(issued, session))
    },
  )

  http.post(
    '/console/workspaces/:slug/keys/:id/rotate',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request, reply) => {
      const { accountId, actor, session } = await adminOf(door, request)
      const { id } = request.params
      const { graceUntil, ...issued } = await rotateKey(ctx, { accountId, id, actor })
      return reply.code(201).send({ ...formatIssued(issued, session), grace_until: graceUntil.toISOString() })
    },
  )

  http.post(
    '/console/workspaces/:slug/keys/:id/revoke',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request) => {
      const { accountId, actor } = await adminOf(door, request)
      const { id } = request.params
      await revokeKey(ctx, { accountId, id, actor })
      return { key: formatKey(await getKey(ctx, { accountId, id }), ctx.clock.now()) }
    },
  )
}

async function adminOf(door: Door, request: Parameters<typeof membershipOf>[1]) {
  const { account } = await membershipOf(door, request, 'admin')
  return { accountId: account.id, actor: actorOf(request), session: getVisitor(request) } as const
}

/** The one time that the secret is shown. Nothing is read for it any more: what failed now would lose the secret. */
function formatIssued({ key, secret }: IssuedKey, { userName }: Session) {
  return { key: formatKey({ ...key, createdByName: userName, lastUsedAt: null }, key.createdAt), secret }
}
