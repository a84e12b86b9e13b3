import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { Empty, role, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const MemberSchema = Type.Object({
  user_id: Type.String(),
  name: Type.String(),
  role,
  created_at: isoTime(),
})

export type Member = Shape<typeof MemberSchema>

const UserParams = Type.Object({ slug: Type.String(), user_id: Type.String() })

export const MEMBER_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/members',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, response: { 200: Type.Object({ members: list(MemberSchema) }) } },
  },
  changeRole: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/members/:user_id',
    // Requires a passkey proof if the person's old or new role is owner or admin.
    config: { role: 'admin', proof: 'conditional', bucket: 'dashboard' },
    schema: { params: UserParams, body: Type.Object({ role }), response: { 200: Empty } },
  },
  remove: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/members/:user_id',
    // Viewers may call this endpoint, because every member may remove themselves. Removing an owner or admin requires a
    // passkey proof.
    config: { role: 'viewer', proof: 'conditional', bucket: 'dashboard' },
    schema: { params: UserParams, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
