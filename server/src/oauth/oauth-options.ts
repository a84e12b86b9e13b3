import type { FastifyRequest } from 'fastify'
import type { Session } from '../domain/sessions/session.ts'
import type { DashboardPlace, Origins } from '../http/hosts.ts'

export interface OauthOptions extends Origins, DashboardPlace {
  /** Whether a client's id may be the URL of its metadata document (D73). */
  readonly clientDocuments: boolean
  /** Returns the dashboard session of the request's cookie, or null if nobody is signed in. */
  readonly readSession: (request: FastifyRequest) => Promise<Session | null>
}
