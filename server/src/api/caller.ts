import type { FastifyRequest } from 'fastify'
import type { Actor } from '../domain/audit/audit-entry.ts'
import type { AuthenticatedToken } from '../domain/connections/authenticate-token.ts'
import type { AuthenticatedKey } from '../domain/keys/authenticate-key.ts'
import type { Plan } from '../domain/plans/plan.ts'
import type { Mode } from '../values/mode.ts'
import { SCOPES, type Scope } from '../values/scope.ts'

/** The caller of a `/v1` request: a workspace and mode, identified by a valid credential. */
export interface Caller {
  readonly authType: 'api_key' | 'oauth'
  /** The id of the HTTP request. */
  readonly requestId: string
  /** The actor that the audit log records. */
  readonly actor: Actor
  /** The id of the API key or of the connection. */
  readonly credentialId: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly workspaceName: string
  readonly plan: Plan
  /** The person who created the workspace. Null if the operator did. */
  readonly creatorId: string | null
  readonly mode: Mode
  readonly scopes: readonly Scope[]
  /**
   * The agent of an OAuth token's connection, or the agent that an API key is bound to (D56). The credential may pay
   * only as this agent (D25). Null for an API key that is not bound to an agent: it may pay as any agent.
   */
  readonly agentId: string | null
  /** The resource for which an OAuth token was issued (RFC 8707). Null for an API key, and if the client named none. */
  readonly resource: string | null
  /**
   * When the connection expires, or when the grace period of a rotated key ends (D30). Null for a key that was not
   * rotated.
   */
  readonly expiresAt: Date | null
  /** The end of a rotated key's grace period. Null for every other credential. */
  readonly graceUntil: Date | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of a request that passed `authenticate`. Read it with `callerOf`. */
    caller: Caller | null
  }
}

/**
 * Returns the caller of a request that passed `authenticate`. Throws if the route does not have that hook, which is a
 * bug.
 */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request
  if (caller === null) throw new Error('the request was not authenticated')
  return caller
}

/** Returns whether the caller is an API key that is neither bound to an agent nor restricted to some scopes (D56). */
export function isUnrestrictedKey({ authType, agentId, scopes }: Caller): boolean {
  return authType === 'api_key' && agentId === null && SCOPES.every((scope) => scopes.includes(scope))
}

export function toKeyCaller({ key, workspace, scopes }: AuthenticatedKey, requestId: string): Caller {
  return {
    authType: 'api_key',
    requestId,
    actor: { kind: 'key', id: key.id },
    credentialId: key.id,
    workspaceId: key.workspaceId,
    workspaceSlug: workspace.slug,
    workspaceName: workspace.name,
    plan: workspace.plan,
    creatorId: workspace.createdBy,
    mode: key.mode,
    scopes,
    agentId: key.agentId,
    resource: null,
    expiresAt: key.graceUntil,
    graceUntil: key.graceUntil,
  }
}

export function toTokenCaller({ connection, workspace, scopes }: AuthenticatedToken, requestId: string): Caller {
  return {
    authType: 'oauth',
    requestId,
    actor: { kind: 'client', id: connection.clientId },
    credentialId: connection.id,
    workspaceId: connection.workspaceId,
    workspaceSlug: workspace.slug,
    workspaceName: workspace.name,
    plan: workspace.plan,
    creatorId: workspace.createdBy,
    mode: connection.mode,
    scopes,
    agentId: connection.agentId,
    resource: connection.resource,
    expiresAt: connection.expiresAt,
    graceUntil: null,
  }
}
