import { changeRole } from '../../domain/members/change-role.ts'
import { listMembers } from '../../domain/members/list-members.ts'
import { removeMember } from '../../domain/members/remove-member.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import { membershipOf, type Door } from '../door.ts'
import { RoleBody, SlugParams, SlugUserParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

export function addMemberRoutes(http: HttpServer, door: Door): void {
  http.get('/console/workspaces/:slug/members', { schema: { params: SlugParams } }, async (request) => {
    const { account } = await membershipOf(door, request, 'viewer')
    const members = await listMembers(door.ctx, { accountId: account.id })
    return {
      members: members.map(({ userId, name, role, createdAt }) => ({
        user_id: userId,
        name,
        role,
        created_at: createdAt.toISOString(),
      })),
    }
  })

  http.patch(
    '/console/workspaces/:slug/members/:user_id',
    { schema: { params: SlugUserParams, body: RoleBody } },
    async (request) => {
      const membership = await membershipOf(door, request, 'admin')
      const userId = parseUserId(request.params.user_id)
      await changeRole(door.ctx, { membership, session: getVisitor(request), userId, role: request.body.role })
      return {}
    },
  )

  http.delete('/console/workspaces/:slug/members/:user_id', { schema: { params: SlugUserParams } }, async (request) => {
    // Whoever wants to leave may.
    const membership = await membershipOf(door, request, 'viewer')
    const userId = parseUserId(request.params.user_id)
    await removeMember(door.ctx, { membership, session: getVisitor(request), userId })
    return {}
  })
}

function parseUserId(text: string): string {
  if (!isId('user', text)) throw problem('member_not_found')
  return text
}
