import { acceptInvitation } from '../../domain/members/accept-invitation.ts'
import { createInvitation } from '../../domain/members/create-invitation.ts'
import { getInvitation, listInvitations } from '../../domain/members/queries.ts'
import type { Invitation } from '../../domain/members/invitation.ts'
import { revokeInvitation } from '../../domain/members/revoke-invitation.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { INVITATION_ROUTES, type Invitation as InvitationView } from '../contract/invitations.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf, getCurrentSession } from '../current-session.ts'
import { formatWorkspace } from '../format-session.ts'

export function addInvitationRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...INVITATION_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const invitations = await listInvitations(ctx, { workspaceId: workspace.id })
      return { invitations: invitations.map(formatInvitation) }
    },
  })

  http.route({
    ...INVITATION_ROUTES.create,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { role } = request.body
      const { invitation, secret } = await createInvitation(ctx, { workspace, role, actor: actorOf(request) })
      const url = `${consoleContext.authUrl}/invite/${secret}`
      return reply.code(201).send({ invitation: { ...formatInvitation(invitation), url } })
    },
  })

  http.route({
    ...INVITATION_ROUTES.revoke,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { id } = request.params
      await revokeInvitation(ctx, { workspaceId: workspace.id, id, actor: actorOf(request) })
      return {}
    },
  })

  http.route({
    ...INVITATION_ROUTES.lookUp,
    handler: async (request) => {
      const { invitation, workspace, invitedBy } = await getInvitation(ctx, { secret: request.body.token })
      return {
        invitation: {
          workspace: { slug: workspace.slug, name: workspace.name },
          role: invitation.role,
          invited_by: invitedBy,
          expires_at: invitation.expiresAt.toISOString(),
        },
      }
    },
  })

  http.route({
    ...INVITATION_ROUTES.accept,
    handler: async (request) => {
      const { userId } = getCurrentSession(request)
      const membership = await acceptInvitation(ctx, { secret: request.body.token, userId })
      return { workspace: formatWorkspace(membership) }
    },
  })
}

function formatInvitation(invitation: Invitation): InvitationView {
  return {
    id: invitation.id,
    role: invitation.role,
    uses_left: invitation.usesLeft,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  }
}
