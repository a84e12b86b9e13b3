import { createWorkspace } from '../../domain/people/create-workspace.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Door } from '../door.ts'
import { formatWorkspace } from '../format-session.ts'
import { parseName } from '../parse-body.ts'
import { NameBody } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

export function addWorkspaceRoute(http: HttpServer, door: Door): void {
  http.post('/console/workspaces', { schema: { body: NameBody } }, async (request, reply) => {
    const { userId } = getVisitor(request)
    const membership = await createWorkspace(door.ctx, { userId, name: parseName(request.body.name) })
    return reply.code(201).send({ workspace: formatWorkspace(membership) })
  })
}
