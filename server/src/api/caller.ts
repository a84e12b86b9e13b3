import type { FastifyRequest } from 'fastify'
import type { Actor } from '../domain/audit/audit-entry.ts'
import type { AuthenticatedToken } from '../domain/connections/authenticate-token.ts'
import type { AuthenticatedKey } from '../domain/keys/authenticate-key.ts'
import type { Plan } from '../domain/plans/plan.ts'
import type { Mode } from '../values/mode.ts'
import { SCOPES, type Scope } from '../values/scope.ts'

/** The caller of a `/v1` request: one account and mode, with a valid credential. */
export interface Caller {
  readonly authType: 'api_key' | 'oauth'
  /** The name for the audit log. */
  readonly actor: Actor
  /** The id of the API key or of the connection. */
  readonly credentialId: string
  readonly accountId: string
  readonly accountSlug: string
  readonly accountName: string
  readonly plan: Plan
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  /** The connection's agent, the only one that it may pay as (D25); null for an API key, which may pay as any agent. */
  readonly agentId: string | null
  /** When the credential ends: a connection's expiry, or the end of a rotated key's grace period; null if it has no end (D30). */
  readonly expiresAt: Date | null
  /** The end of a rotated key's grace period. */
  readonly graceUntil: Date | null
}

const callers = new WeakMap<FastifyRequest, Caller>()

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** Returns the caller of a request that passed `authenticate`. Throws if the route has no such hook, which is our bug. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (caller === undefined) throw new Error('the request was not authenticated')
  return caller
}

export function toKeyCaller({ key, account }: AuthenticatedKey): Caller {
  return {
    authType: 'api_key',
    actor: { kind: 'key', id: key.id },
    credentialId: key.id,
    accountId: key.accountId,
    accountSlug: account.slug,
    accountName: account.name,
    plan: account.plan,
    mode: key.mode,
    scopes: SCOPES,
    agentId: null,
    expiresAt: key.graceUntil,
    graceUntil: key.graceUntil,
  }
}

export function toTokenCaller({ connection, account, scopes }: AuthenticatedToken): Caller {
  return {
    authType: 'oauth',
    actor: { kind: 'client', id: connection.clientId },
    credentialId: connection.id,
    accountId: connection.accountId,
    accountSlug: account.slug,
    accountName: account.name,
    plan: account.plan,
    mode: connection.mode,
    scopes,
    agentId: connection.agentId,
    expiresAt: connection.expiresAt,
    graceUntil: null,
  }
}
