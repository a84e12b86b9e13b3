import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { Empty, role, secret, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { WorkspaceSchema } from './workspaces.ts'

const InvitationSchema = Type.Object({
  id: Type.String(),
  role,
  uses_left: Type.Integer(),
  created_at: isoTime(),
  expires_at: isoTime(),
})

/** A new invitation. `url` is its link, which only this response contains. */
const IssuedInvitationSchema = Type.Object({ ...InvitationSchema.properties, url: Type.String() })

/** What we show about the invitation to anyone who has its link. */
const OfferedInvitationSchema = Type.Object({
  workspace: Type.Object({ slug: Type.String(), name: Type.String() }),
  role,
  invited_by: orNull(Type.String()),
  expires_at: isoTime(),
})

export type Invitation = Shape<typeof InvitationSchema>
export type IssuedInvitation = Shape<typeof IssuedInvitationSchema>
export type OfferedInvitation = Shape<typeof OfferedInvitationSchema>

/** A request that contains the secret from the invitation's link. */
const TokenBody = Type.Object({ token: secret })
const THE_INVITER_PROVED = {
  notNeeded: 'uses up the invitation’s secret, whose issuer has proved their presence',
} as const

export const INVITATION_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/invitations',
    config: { needs: 'manageMembers', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, response: { 200: Type.Object({ invitations: list(InvitationSchema) }) } },
  },
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/invitations',
    // Requires a passkey proof if the invitation makes someone an owner or admin.
    config: { needs: 'manageMembers', proof: 'conditional', bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ role }),
      response: { 201: Type.Object({ invitation: IssuedInvitationSchema }) },
    },
  },
  revoke: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/invitations/:id',
    config: { needs: 'manageMembers', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: Empty } },
  },
  /**
   * Returns the workspace and role of an invitation to anyone who has its link, so that the page can show them before
   * the person signs up.
   */
  lookUp: {
    method: 'POST',
    url: '/console/invitations/look-up',
    config: { needs: 'nothing', proof: READS, bucket: 'dashboard' },
    schema: { body: TokenBody, response: { 200: Type.Object({ invitation: OfferedInvitationSchema }) } },
  },
  accept: {
    method: 'POST',
    url: '/console/invitations/accept',
    config: { needs: 'session', proof: THE_INVITER_PROVED, bucket: 'dashboard' },
    schema: { body: TokenBody, response: { 200: Type.Object({ workspace: WorkspaceSchema }) } },
  },
} as const satisfies ConsoleRoutes
