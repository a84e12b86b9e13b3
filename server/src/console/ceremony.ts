import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../values/problem.ts'
import type { ConsoleContext } from './console-context.ts'

/**
 * Returns the options that a browser needs to create or use a passkey. Sets a cookie that binds this passkey ceremony
 * to the browser that began it.
 */
export function formatCeremony<Options>(
  { cookies }: ConsoleContext,
  reply: FastifyReply,
  { ceremony, options }: { ceremony: string; options: Options },
): { options: Options } {
  cookies.setCeremony(reply, ceremony)
  return { options }
}

/**
 * Returns the secret of the passkey ceremony that this browser began, and clears its cookie, because each challenge is
 * used only once. Throws `ceremony_expired` without the cookie.
 */
export function takeCeremonyCookie({ cookies }: ConsoleContext, request: FastifyRequest, reply: FastifyReply): string {
  const ceremony = cookies.readCeremony(request)
  if (ceremony === null) throw problem('ceremony_expired')
  cookies.clearCeremony(reply)
  return ceremony
}
