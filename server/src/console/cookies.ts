import { fastifyCookie } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CEREMONY_MS } from '../domain/passkeys/ceremony.ts'

export interface Cookies {
  readSession(request: FastifyRequest): string | null
  setSession(reply: FastifyReply, secret: string, lifetimeSeconds: number): void
  clearSession(reply: FastifyReply): void
  readCeremony(request: FastifyRequest): string | null
  setCeremony(reply: FastifyReply, secret: string): void
  clearCeremony(reply: FastifyReply): void
}

/**
 * The two cookies of the dashboard (D47). In production their names begin with `__Host-`, so a browser accepts them
 * only over HTTPS and only from this host. In development there is no HTTPS, so the names have no prefix. The session
 * cookie is `Lax`, so that it is sent when a person follows a link from an application to the consent page. The
 * ceremony cookie is `Strict`, because only our own pages need it.
 *
 * The plugin `@fastify/cookie` must be registered, because it parses and sets the cookies.
 */
export function createCookies({ production }: { production: boolean }): Cookies {
  const prefix = production ? '__Host-' : ''
  const names = { session: `${prefix}session`, ceremony: `${prefix}ceremony` } as const
  const sameSite = { session: 'lax', ceremony: 'strict' } as const

  const read = (request: FastifyRequest, kind: keyof typeof names): string | null =>
    fastifyCookie.parse(request.headers.cookie ?? '')[names[kind]] ?? null
  const attributes = (kind: keyof typeof names) =>
    ({ path: '/', httpOnly: true, secure: production, sameSite: sameSite[kind] }) as const
  const set = (reply: FastifyReply, kind: keyof typeof names, value: string, maxAge: number): void => {
    void reply.setCookie(names[kind], value, { ...attributes(kind), maxAge })
  }
  const clear = (reply: FastifyReply, kind: keyof typeof names): void => {
    void reply.clearCookie(names[kind], attributes(kind))
  }

  return {
    readSession: (request) => read(request, 'session'),
    setSession: (reply, secret, lifetimeSeconds) => set(reply, 'session', secret, lifetimeSeconds),
    clearSession: (reply) => clear(reply, 'session'),
    readCeremony: (request) => read(request, 'ceremony'),
    setCeremony: (reply, secret) => set(reply, 'ceremony', secret, CEREMONY_MS / 1_000),
    clearCeremony: (reply) => clear(reply, 'ceremony'),
  }
}
