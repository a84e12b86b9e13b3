import type { FastifyRequest } from 'fastify'
import type { Membership } from '../domain/members/member.ts'
import { actorOf } from './current-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller's membership. Null if the endpoint declares no role in a workspace. */
    membership: Membership | null
  }
}

/**
 * Returns the caller's membership in the workspace that the path names. Only for endpoints that declare a workspace
 * role.
 */
export function currentMembership({ membership }: FastifyRequest): Membership {
  if (membership === null) throw new Error('this endpoint does not declare a role in a workspace')
  return membership
}

/** Returns the caller as the actor of a change in the workspace that the path names. */
export function memberOf(request: FastifyRequest) {
  const { workspace, userId } = currentMembership(request)
  return { workspaceId: workspace.id, userId, actor: actorOf(request) }
}
