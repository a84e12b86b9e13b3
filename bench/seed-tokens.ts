import pg from 'pg'
import { createId } from '../server/src/values/ids.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../server/src/values/secret.ts'
import type { SeededSecret } from './peer.ts'
import type { BenchTarget } from './seed.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** A public client, and the workspace and user that connect it. */
export interface TokenClient {
  readonly clientId: string
  readonly workspaceId: string
  readonly agentId: string
  readonly userId: string
}

const CLIENTS = `jsonb_to_recordset($1::jsonb) as t ("clientId" text, "workspaceId" text, "agentId" text, "userId" text,
  id text, hash text)`

/** Creates one client and one owner for each of these workspaces. */
export async function seedClients(
  databaseUrl: string,
  { targets, redirectUri }: { targets: readonly BenchTarget[]; redirectUri: string },
): Promise<TokenClient[]> {
  const now = new Date()
  const clients = targets.map(({ workspaceId, agentId }) => {
    return { clientId: createId('client', now), workspaceId, agentId, userId: createId('user', now) }
  })
  const rows = JSON.stringify(clients)
  await runStatements(databaseUrl, [
    {
      text: `insert into users (id, name, user_handle, created_at, joined_at)
        select "userId", 'Bench', sha256("userId"::bytea), $2, $2 from ${CLIENTS}`,
      values: [rows, now],
    },
    {
      text: `insert into members (workspace_id, user_id, role, created_at)
        select "workspaceId", "userId", 'owner', $2 from ${CLIENTS}`,
      values: [rows, now],
    },
    {
      text: `insert into oauth_clients (id, name, redirect_uris, scopes, created_at, last_used_at)
        select "clientId", 'Bench', array[$3], '{wallet:read}', $2, $2 from ${CLIENTS}`,
      values: [rows, now, redirectUri],
    },
  ])
  return clients
}

/** Creates codes or refresh tokens, each with a connection of its own, spread over all clients. */
export async function seedSecrets(
  databaseUrl: string,
  { kind, count, clients, redirectUri, codeChallenge }: SecretsOrder,
): Promise<SeededSecret[]> {
  const now = new Date()
  const end = new Date(now.getTime() + DAY_MS)
  const prefix = SECRET_PREFIXES[kind]
  const seeded = Array.from({ length: count }, (_, index) => {
    const client = clients[index % clients.length]
    if (client === undefined) throw new Error('there are no clients')
    return { ...client, id: createId('connection', now), secret: createSecret(prefix) }
  })
  const rows = JSON.stringify(
    seeded.map(({ secret, ...row }) => ({ ...row, hash: hashSecret(secret).toString('hex') })),
  )
  const connections = {
    text: `insert into connections (workspace_id, id, mode, agent_id, user_id, member_since, client_id, scopes,
        rate_subject, created_at, expires_at)
      select t."workspaceId", t.id, 'test', t."agentId", t."userId", m.created_at, t."clientId", '{wallet:read}',
        decode(t.hash, 'hex'), $2, $3
      from ${CLIENTS} join members m on m.workspace_id = t."workspaceId" and m.user_id = t."userId"`,
    values: [rows, now, end],
  }
  const secrets =
    kind === 'refreshToken'
      ? {
          text: `insert into refresh_tokens (token_hash, workspace_id, connection_id, created_at, expires_at)
            select decode(hash, 'hex'), "workspaceId", id, $2, $3 from ${CLIENTS}`,
          values: [rows, now, end],
        }
      : {
          text: `insert into authorization_codes (code_hash, workspace_id, connection_id, redirect_uri, code_challenge, expires_at)
            select decode(hash, 'hex'), "workspaceId", id, $2, $3, $4 from ${CLIENTS}`,
          values: [rows, redirectUri, codeChallenge, end],
        }
  await runStatements(databaseUrl, [connections, secrets])
  return seeded.map(({ clientId, secret }) => ({ clientId, secret }))
}

export interface SecretsOrder {
  readonly kind: 'authorizationCode' | 'refreshToken'
  readonly count: number
  readonly clients: readonly TokenClient[]
  readonly redirectUri: string
  readonly codeChallenge: string
}

async function runStatements(databaseUrl: string, statements: readonly pg.QueryConfig[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
