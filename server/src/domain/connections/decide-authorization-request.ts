import { randomBytes } from 'node:crypto'
import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { openWindows } from '../../limiter/limiter-store.ts'
import { createId } from '../../values/ids.ts'
import { Problem, problem } from '../../values/problem.ts'
import { createSecret, hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { Session } from '../sessions/session.ts'
import { requireRecentProof } from '../require-recent-proof.ts'
import type { AuthorizationResponse, Decision } from './authorization-request.ts'
import type { Connection } from './connection.ts'
import { checkOpen } from './queries.ts'
import { CODE_LIFETIME_MS } from './limits.ts'
import { narrowScopes } from './narrow-scopes.ts'
import { insertCode } from './codes-store.ts'
import { findRequest, markClientUsed, takeRequest, type TakenRequest } from './requests-store.ts'
import { findConsentParties, hasBelonged, insertConnection } from './connections-store.ts'

type Approval = Extract<Decision, { approve: true }>
/** The parts of the deciding user's session that the decision depends on. */
type Decider = Pick<Session, 'userId' | 'verifiedAt'>

const RATE_SUBJECT_BYTES = 32

/**
 * Applies a user's decision to an open authorization request. Each request can be decided only once. An approval
 * creates a connection and its code. The code gives access, so an approval requires a recent proof of the user's
 * presence (D59). If the decision fails, the request stays open.
 *
 * Errors: 404 `authorization_request_not_found`, `agent_not_found`; 409 `authorization_request_decided`; 403
 * `verification_required`, `role_insufficient`; 400 for scopes that were not requested.
 */
export async function decideAuthorizationRequest(
  ctx: Pick<Context, 'db' | 'clock'>,
  { handle, session, decision }: { handle: string; session: Decider; decision: Decision },
): Promise<AuthorizationResponse> {
  if (!isSecret(SECRET_PREFIXES.requestHandle, handle)) throw problem('authorization_request_not_found')
  const handleHash = hashSecret(handle)
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const request = await transaction.run(takeRequest(handleHash, now))
    if (request === null) {
      checkOpen(await transaction.run(findRequest(handleHash)), now)
      throw new Error('an open authorization request could not be taken')
    }
    if (decision.approve) return await approve(transaction, { request, session, approval: decision, now })
    return await deny(transaction, { request, userId: session.userId, now })
  })
}

/**
 * Denies a request. If the user has never belonged to a workspace, the denial is recorded neither in the audit log nor
 * on the client, because anybody can sign up and the log is kept forever.
 */
async function deny(
  transaction: Transaction,
  { request, userId, now }: { request: TakenRequest; userId: string; now: Date },
): Promise<AuthorizationResponse> {
  const denied = { redirectUri: request.redirectUri, state: request.state, error: 'access_denied' } as const
  if (!(await transaction.run(hasBelonged(userId)))) {
    await transaction.commit([])
    return denied
  }
  await transaction.commit([
    ...recordClientUse(request, now),
    insertAuditEntry({
      logId: userId,
      createdAt: now,
      actor: { kind: 'user', id: userId },
      action: 'connection.denied',
      subject: request.clientId,
      details: { client_name: request.clientName },
    }),
  ])
  return denied
}

/**
 * Returns the queries that record that a user decided on a request of the client. The first decision also adds an audit
 * entry that contains the time at which the client was registered, or at which its document was first read. That event
 * is not logged when it happens, because anybody can add clients.
 */
function recordClientUse({ clientId, clientKind, registration }: TakenRequest, now: Date): Query<unknown>[] {
  if (registration === null) return [markClientUsed(clientId, now)]
  const entry = insertAuditEntry({
    logId: clientId,
    createdAt: now,
    actor: { kind: 'client', id: clientId },
    action: 'client.registered',
    subject: clientId,
    details: {
      kind: clientKind,
      redirect_uris: registration.redirectUris,
      registered_at: registration.at.toISOString(),
    },
  })
  return [markClientUsed(clientId, now), entry]
}

/**
 * Checks the agent and the user's membership, then stores the consent, in two round trips. Locks the workspace first.
 * Deleting an agent takes the same lock, so the agent cannot be deleted meanwhile.
 */
async function approve(
  transaction: Transaction,
  { request, session, approval, now }: { request: TakenRequest; session: Decider; approval: Approval; now: Date },
): Promise<AuthorizationResponse> {
  requireRecentProof(session, now)
  const { userId } = session
  const { membership, mode, agentId } = approval
  const { id: workspaceId } = membership.workspace
  const scopes = narrowScopes(request.scopes, approval.scopes)
  if (scopes === null)
    throw new Problem('validation_failed', 'scope must contain only scopes that the application has requested.')
  const [, { agentExists, memberSince }] = await transaction.batch([
    lockWorkspace(workspaceId),
    findConsentParties({ workspaceId, mode, agentId, userId }),
  ])
  if (memberSince === null) throw problem('role_insufficient')
  if (!agentExists) throw problem('agent_not_found')
  const connection: Connection = {
    workspaceId,
    id: createId('connection', now),
    mode,
    agentId,
    userId,
    clientId: request.clientId,
    scopes,
    resource: request.resource,
    rateSubject: randomBytes(RATE_SUBJECT_BYTES),
    createdAt: now,
    expiresAt: new Date(now.getTime() + CODE_LIFETIME_MS),
  }
  const code = createSecret(SECRET_PREFIXES.authorizationCode)
  await transaction.commit([
    insertConnection(connection, memberSince),
    insertCode(hashSecret(code), {
      connection,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
    }),
    openWindows(connection.rateSubject),
    ...recordClientUse(request, now),
    insertAuditEntry({
      logId: workspaceId,
      createdAt: now,
      actor: { kind: 'user', id: userId },
      action: 'connection.approved',
      subject: connection.id,
      details: { client_id: request.clientId, client_name: request.clientName, mode, agent_id: agentId, scopes },
    }),
  ])
  return { redirectUri: request.redirectUri, state: request.state, code }
}
