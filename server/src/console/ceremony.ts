import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../values/problem.ts'
import type { ConsoleContext } from './console-context.ts'

/** Binds a passkey ceremony to the browser that began it, by a cookie, and returns the options for its passkey. */
export function formatCeremony<Options>(
  { cookies }: ConsoleContext,
  reply: FastifyReply,
  { ceremony, options }: { ceremony: string; options: Options },
): { options: Options } {
  cookies.setCeremony(reply, ceremony)
  return { options }
}

/** Takes the ceremony that the browser began. The cookie is cleared, since a challenge is used once. */
export function takeCeremony({ cookies }: ConsoleContext, request: FastifyRequest, reply: FastifyReply): string {
  const ceremony = cookies.readCeremony(request)
  if (ceremony === null) throw problem('ceremony_expired')
  cookies.clearCeremony(reply)
  return ceremony
}
