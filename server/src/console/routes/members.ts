import { changeRole } from '../../domain/members/change-role.ts'
import { listMembers } from '../../domain/members/queries.ts'
import { removeMember } from '../../domain/members/remove-member.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { ConsoleContext } from '../console-context.ts'
import { MEMBER_ROUTES } from '../contract/members.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'

export function addMemberRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...MEMBER_ROUTES.list,
    handler: async (request) => {
      const { account } = currentMembership(request)
      const members = await listMembers(ctx, { accountId: account.id })
      return {
        members: members.map(({ userId, name, role, createdAt }) => ({
          user_id: userId,
          name,
          role,
          created_at: createdAt.toISOString(),
        })),
      }
    },
  })

  http.route({
    ...MEMBER_ROUTES.changeRole,
    handler: async (request) => {
      const membership = currentMembership(request)
      const userId = parseUserId(request.params.user_id)
      await changeRole(ctx, {
        membership,
        session: getCurrentSession(request),
        userId,
        role: request.body.role,
      })
      return {}
    },
  })

  http.route({
    ...MEMBER_ROUTES.remove,
    handler: async (request) => {
      const membership = currentMembership(request)
      const userId = parseUserId(request.params.user_id)
      await removeMember(ctx, { membership, session: getCurrentSession(request), userId })
      return {}
    },
  })
}

function parseUserId(text: string): string {
  if (!isId('user', text)) throw problem('member_not_found')
  return text
}
