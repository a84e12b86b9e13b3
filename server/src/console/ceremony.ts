import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../values/problem.ts'
import type { Door } from './door.ts'

/** Binds a ceremony to the browser that began it, and answers what its authenticator is asked. */
export function formatCeremony<Options>(
  { cookies }: Door,
  reply: FastifyReply,
  { ceremony, options }: { ceremony: string; options: Options },
): { options: Options } {
  cookies.setCeremony(reply, ceremony)
  return { options }
}

/** The ceremony that the browser answers; the cookie is gone with it, as the challenge is. */
export function takeCeremony({ cookies }: Door, request: FastifyRequest, reply: FastifyReply): string {
  const ceremony = cookies.readCeremony(request)
  if (ceremony === null) throw problem('ceremony_expired')
  cookies.clearCeremony(reply)
  return ceremony
}
