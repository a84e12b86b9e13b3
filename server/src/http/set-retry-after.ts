import type { FastifyReply } from 'fastify'

/** Sets the header `Retry-After`, in seconds, if the error says when to retry (RFC 9110, section 10.2.3). */
export function setRetryAfter(reply: FastifyReply, seconds: number | undefined): void {
  if (seconds !== undefined) void reply.header('Retry-After', String(seconds))
}
