import type { FastifyRequest } from 'fastify'
import type { Session } from '../domain/sessions/session.ts'
import type { Origins } from '../http/hosts.ts'

export interface OauthOptions extends Origins {
  /** Who is signed in to the dashboard, by the request's cookie. */
  readonly readSession: (request: FastifyRequest) => Promise<Session | null>
}
