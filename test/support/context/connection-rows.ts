import { hash, randomBytes } from 'node:crypto'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { createEmptyWorkspace } from '../../../server/src/domain/workspaces/create-empty-workspace.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { authenticateToken } from '../../../server/src/domain/connections/authenticate-token.ts'
import type { Client } from '../../../server/src/domain/connections/client.ts'
import { decideAuthorizationRequest } from '../../../server/src/domain/connections/decide-authorization-request.ts'
import { exchangeCode } from '../../../server/src/domain/connections/exchange-code.ts'
import { openAuthorizationRequest } from '../../../server/src/domain/connections/open-authorization-request.ts'
import { refreshTokens } from '../../../server/src/domain/connections/refresh-tokens.ts'
import type { RefreshRequest } from '../../../server/src/domain/connections/refresh-tokens-store.ts'
import { registerClient } from '../../../server/src/domain/connections/register-client.ts'
import type { TokenRefusal, Tokens } from '../../../server/src/domain/connections/tokens.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { readProcessMs } from '../../../server/src/lib/clock.ts'
import type { Membership } from '../../../server/src/domain/members/member.ts'
import type { Role } from '../../../server/src/values/role.ts'
import type { AgentId } from '../../../server/src/values/agent-id.ts'
import { createId } from '../../../server/src/values/ids.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { SCOPES, type Scope } from '../../../server/src/values/scope.ts'
import { readRows } from '../database/read-rows.ts'
import { agent } from './seed.ts'

type Ways = Pick<Context, 'db' | 'deferredWrites' | 'clock' | 'cell' | 'successorKey'>
/** What the clean-up needs too. */
type CleaningWays = Ways & Pick<Context, 'enclave' | 'eventsExamined' | 'logger' | 'outboundRetentionMs' | 'sealer'>

export const REDIRECT_URI = 'https://client.example/callback'

export interface SeedConnectionOptions {
  readonly workspace?: Workspace
  readonly mode?: Mode
  readonly agentId?: AgentId
  /** The member who consents. By default, a new owner of the workspace. */
  readonly membership?: Membership
  readonly client?: Client
  readonly redirectUri?: string
  /** The scopes that are requested and then granted. */
  readonly scopes?: readonly Scope[]
  readonly resource?: string | null
}

/** An authorization request that waits for a decision. */
export interface SeededRequest {
  readonly membership: Membership
  readonly mode: Mode
  readonly agentId: AgentId
  readonly client: Client
  readonly redirectUri: string
  readonly verifier: string
  readonly handle: string
}

/** An approved connection, with its authorization code. */
export interface SeededConnection extends SeededRequest {
  readonly code: string
}

export interface ConnectedClient extends SeededConnection {
  readonly tokens: Tokens
}

export async function seedRequest(ctx: Ways, options: SeedConnectionOptions = {}): Promise<SeededRequest> {
  const { mode = 'test', redirectUri = REDIRECT_URI, scopes = SCOPES } = options
  const workspace = options.membership?.workspace ?? options.workspace ?? (await seedWorkspace(ctx))
  const membership = options.membership ?? (await seedMember(ctx, workspace))
  const agentId = options.agentId ?? agent(`agent-${randomBytes(4).toString('hex')}`)
  await createAgent(ctx, { workspaceId: workspace.id, mode, id: agentId, actor: OPERATOR })
  const client =
    options.client ??
    (await registerClient(ctx, { name: 'Test client', redirectUris: [redirectUri], scopes: [...SCOPES] }))
  const verifier = randomBytes(32).toString('base64url')
  const handle = await openAuthorizationRequest(ctx, {
    clientId: client.id,
    redirectUri,
    scopes,
    state: 'state of the client',
    codeChallenge: hash('sha256', verifier, 'base64url'),
    resource: options.resource ?? null,
    agentId: null,
  })
  return { membership, mode, agentId, client, redirectUri, verifier, handle }
}

/** Registers a client, opens an authorization request, and approves it as an owner of the workspace. */
export async function seedConnection(ctx: Ways, options: SeedConnectionOptions = {}): Promise<SeededConnection> {
  const request = await seedRequest(ctx, options)
  const { membership, mode, agentId, handle } = request
  const decided = await decideAuthorizationRequest(ctx, {
    handle,
    session: sessionOf(ctx, membership),
    decision: { approve: true, membership, mode, agentId, scopes: null },
  })
  if (decided.code === undefined) throw new Error('the request was not approved')
  return { ...request, code: decided.code }
}

/** Returns the session of a member who has just proved their identity. */
export function sessionOf({ clock }: Pick<Context, 'clock'>, { userId }: Pick<Membership, 'userId'>) {
  return { userId, verifiedAt: clock.now() }
}

/** Creates an approved connection, and exchanges its code for tokens. */
export async function seedTokens(ctx: Ways, options: SeedConnectionOptions = {}): Promise<ConnectedClient> {
  const seeded = await seedConnection(ctx, options)
  return { ...seeded, tokens: issued(await exchange(ctx, seeded)) }
}

export interface CodeExchange {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly resource: string | null
}

/** Exchanges the code as the client does. `change` replaces parameters. */
export function exchange(
  ctx: Ways,
  { code, client, redirectUri, verifier }: SeededConnection,
  change: Partial<CodeExchange> = {},
): Promise<Tokens | TokenRefusal> {
  const parameters = { code, clientId: client.id, redirectUri, codeVerifier: verifier, resource: null }
  return exchangeCode(ctx, { ...parameters, ...change })
}

/** Refreshes the token as the client does. */
export function refresh(
  ctx: Ways,
  { client }: Pick<SeededConnection, 'client'>,
  refreshToken: string,
  change: Partial<RefreshRequest> & { readonly arrivedAtMs?: number } = {},
): Promise<Tokens | TokenRefusal> {
  return refreshTokens(ctx, {
    refreshToken,
    arrivedAtMs: readProcessMs(),
    clientId: client.id,
    scopes: null,
    resource: null,
    ...change,
  })
}

export function issued(answer: Tokens | TokenRefusal): Tokens {
  if (answer.kind !== 'issued') throw new Error(`refused: ${answer.error}`)
  return answer
}

export async function isAlive(ctx: Ways, accessToken: string): Promise<boolean> {
  const found = await authenticateToken(ctx, { credential: accessToken, bucket: 'default', requiredScope: null })
  return found !== null
}

export function seedWorkspace(ctx: Ways): Promise<Workspace> {
  return createEmptyWorkspace(ctx, {
    name: `Seed ${randomBytes(4).toString('hex')}`,
    plan: 'developer',
    actor: OPERATOR,
  })
}

/** Adds a person to the workspace. The person has no passkeys. */
export async function seedMember(ctx: Ways, workspace: Workspace, role: Role = 'owner'): Promise<Membership> {
  const createdAt = ctx.clock.now()
  const userId = createId('user', createdAt)
  await readRows(
    ctx.db,
    'insert into users (id, name, user_handle, created_at, joined_at) values ($1, $2, $3, $4, $4)',
    [userId, 'Ada', randomBytes(32), createdAt],
  )
  const membership: Membership = { workspace, userId, role, createdAt }
  await joinWorkspace(ctx, membership)
  return membership
}

/** Makes a person who has left the workspace a member again, with the earlier role. */
export async function joinWorkspace(ctx: Ways, { workspace, userId, role, createdAt }: Membership): Promise<void> {
  await readRows(ctx.db, 'insert into members (workspace_id, user_id, role, created_at) values ($1, $2, $3, $4)', [
    workspace.id,
    userId,
    role,
    createdAt,
  ])
}

export async function leaveWorkspace(ctx: Ways, { workspace, userId }: Membership): Promise<void> {
  await readRows(ctx.db, 'delete from members where workspace_id = $1 and user_id = $2', [workspace.id, userId])
}

export async function setRole(ctx: Ways, { workspace, userId }: Membership, role: Role): Promise<void> {
  await readRows(ctx.db, 'update members set role = $3 where workspace_id = $1 and user_id = $2', [
    workspace.id,
    userId,
    role,
  ])
}

/** Reads the row of the workspace's only connection from the database. */
export async function readConnection(
  ctx: Ways,
  { membership }: Pick<SeededRequest, 'membership'>,
): Promise<{ id: string; revokedBecause: string | null; currentRefreshTokens: number }> {
  const rows = await readRows(
    ctx.db,
    `select c.id, c.revoked_because, count(t.*) as current from connections c
      left join refresh_tokens t on t.workspace_id = c.workspace_id and t.connection_id = c.id and t.taken_at is null
      where c.workspace_id = $1 group by c.id, c.revoked_because`,
    [membership.workspace.id],
  )
  const [row] = rows
  if (row === undefined || rows.length > 1) throw new Error(`the workspace has ${rows.length} connections`)
  return { id: row['id'], revokedBecause: row['revoked_because'], currentRefreshTokens: Number(row['current']) }
}

/** Returns the actions on connections in an audit log, in the order in which they were recorded. */
export async function listActions(ctx: Ways, logId: string): Promise<string[]> {
  const rows = await readRows(
    ctx.db,
    "select action from audit_entries where log_id = $1 and action like 'connection.%' order by created_at, id",
    [logId],
  )
  return rows.map((row) => String(row['action']))
}

/**
 * Lets the database believe that every rotation of a refresh token happened this long ago. By default, this is so long
 * ago that another request with the token is a second use. A negative time is in the future (D38a).
 */
export async function endUses(ctx: Ways, agoMs = 60_000): Promise<void> {
  const text = `update refresh_tokens set rotated_at = clock_timestamp() - $1 * interval '1 millisecond'
    where rotated_at is not null`
  await readRows(ctx.db, text, [agoMs])
}

/** Returns a context whose clock stands still. `move` moves the clock forward. */
export function stopClock(ctx: CleaningWays): CleaningWays & { move: (milliseconds: number) => void } {
  let time = ctx.clock.now().getTime()
  return {
    db: ctx.db,
    cell: ctx.cell,
    successorKey: ctx.successorKey,
    deferredWrites: ctx.deferredWrites,
    eventsExamined: ctx.eventsExamined,
    outboundRetentionMs: ctx.outboundRetentionMs,
    enclave: ctx.enclave,
    logger: ctx.logger,
    sealer: ctx.sealer,
    clock: { now: () => new Date(time) },
    move: (milliseconds) => {
      time += milliseconds
    },
  }
}
