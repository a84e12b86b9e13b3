import { acceptInvitation } from '../../domain/members/accept-invitation.ts'
import { createInvitation } from '../../domain/members/create-invitation.ts'
import { findInvitation } from '../../domain/members/find-invitation.ts'
import type { Invitation } from '../../domain/members/invitation.ts'
import { listInvitations } from '../../domain/members/list-invitations.ts'
import { revokeInvitation } from '../../domain/members/revoke-invitation.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatWorkspace } from '../format-session.ts'
import { RoleBody, SlugIdParams, SlugParams, TokenBody } from '../schemas.ts'
import { actorOf, getVisitor } from '../visitor.ts'

export function addInvitationRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get('/console/workspaces/:slug/invitations', { schema: { params: SlugParams } }, async (request) => {
    const { account } = await membershipOf(door, request, 'admin')
    const invitations = await listInvitations(ctx, { accountId: account.id })
    return { invitations: invitations.map(formatInvitation) }
  })

  http.post(
    '/console/workspaces/:slug/invitations',
    { schema: { params: SlugParams, body: RoleBody } },
    async (request, reply) => {
      const { account } = await membershipOf(door, request, 'admin')
      const { role } = request.body
      const { invitation, secret } = await createInvitation(ctx, { account, role, actor: actorOf(request) })
      const url = `${door.authUrl}/invite/${secret}`
      return reply.code(201).send({ invitation: { ...formatInvitation(invitation), url } })
    },
  )

  http.delete('/console/workspaces/:slug/invitations/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { account, userId } = await membershipOf(door, request, 'admin')
    const { id } = request.params
    await revokeInvitation(ctx, { accountId: account.id, id, actor: { kind: 'user', id: userId } })
    return {}
  })

  // For whoever holds the link, signed in or not: its page says where it leads before anybody signs up for it.
  http.post('/console/invitations/look-up', { schema: { body: TokenBody } }, async (request) => {
    const { invitation, account, invitedBy } = await findInvitation(ctx, { secret: request.body.token })
    return {
      invitation: {
        workspace: { slug: account.slug, name: account.name },
        role: invitation.role,
        invited_by: invitedBy,
        expires_at: invitation.expiresAt.toISOString(),
      },
    }
  })

  http.post('/console/invitations/accept', { schema: { body: TokenBody } }, async (request) => {
    const { userId } = getVisitor(request)
    const membership = await acceptInvitation(ctx, { secret: request.body.token, userId })
    return { workspace: formatWorkspace(membership) }
  })
}

function formatInvitation(invitation: Invitation) {
  return {
    id: invitation.id,
    role: invitation.role,
    uses_left: invitation.usesLeft,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  }
}
