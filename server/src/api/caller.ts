import type { FastifyRequest } from 'fastify'
import type { Actor } from '../domain/audit/audit-entry.ts'
import type { AuthenticatedToken } from '../domain/connections/authenticate-token.ts'
import type { AuthenticatedKey } from '../domain/keys/authenticate-key.ts'
import type { Plan } from '../domain/plans/plan.ts'
import type { Mode } from '../values/mode.ts'
import { SCOPES, type Scope } from '../values/scope.ts'

/** Whoever a `/v1` request comes from: one (account, mode), by a credential that holds now. */
export interface Caller {
  readonly authType: 'api_key' | 'oauth'
  /** Who is told in the audit log. */
  readonly actor: Actor
  /** The key's id, or the connection's. */
  readonly credentialId: string
  readonly accountId: string
  readonly accountSlug: string
  readonly accountName: string
  readonly plan: Plan
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  /** The agent that a connection is for, and the only one that it pays as (D25); null: any of the workspace's. */
  readonly agentId: string | null
  /** The end of a rotation's grace, or of a connection; null while the credential has no end (D30). */
  readonly expiresAt: Date | null
  /** The end of a rotation's grace. */
  readonly graceUntil: Date | null
}

const callers = new WeakMap<FastifyRequest, Caller>()

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** The caller of a request behind `authenticate`; anywhere else there is none, which is a fault of ours. */
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
