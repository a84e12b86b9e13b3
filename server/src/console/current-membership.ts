import type { FastifyRequest } from 'fastify'
import type { Membership } from '../domain/members/member.ts'
import { actorOf } from './current-session.ts'

const memberships = new WeakMap<FastifyRequest, Membership>()

export function setCurrentMembership(request: FastifyRequest, membership: Membership): void {
  memberships.set(request, membership)
}

/** The caller's membership in the workspace of the path, for endpoints that declare a role in it. */
export function currentMembership(request: FastifyRequest): Membership {
  const membership = memberships.get(request)
  if (membership === undefined) throw new Error('this endpoint does not declare a role in a workspace')
  return membership
}

/** The caller as the actor of a change in the workspace of the path. */
export function callerOf(request: FastifyRequest) {
  const { account, userId } = currentMembership(request)
  return { accountId: account.id, userId, actor: actorOf(request) }
}
