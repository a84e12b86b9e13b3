import { changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import { toScopes } from '../../values/scope.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Client } from './client.ts'

const CLIENT_COLUMNS = 'id, name, redirect_uris, scopes, created_at, last_used_at'

export function insertClient(client: Client): Query<boolean> {
  return {
    name: 'insert_oauth_client',
    text: `insert into oauth_clients (${CLIENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6)`,
    values: [client.id, client.name, client.redirectUris, client.scopes, client.createdAt, client.lastUsedAt],
    read: changed,
  }
}

export function findClientRow(id: string): Query<Client | null> {
  return {
    name: 'find_oauth_client',
    text: `select ${CLIENT_COLUMNS} from oauth_clients where id = $1`,
    values: [id],
    read: firstOrNull(toClient),
  }
}

export function markClientUsed(id: string, now: Date): Query<boolean> {
  return {
    name: 'mark_oauth_client_used',
    text: 'update oauth_clients set last_used_at = $2 where id = $1',
    values: [id, now],
    read: changed,
  }
}

/** Clients that no person ever decided on, and that nobody waits for. By `oauth_clients_never_used`. */
export function deleteUnusedClients(createdBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_unused_oauth_clients',
    text: `delete from oauth_clients where id in (
        select c.id from oauth_clients c where c.last_used_at is null and c.created_at <= $1
          and not exists (select 1 from authorization_requests r where r.client_id = c.id)
        order by c.created_at limit $2 for update of c skip locked)`,
    values: [createdBefore, rowsMax],
    read: (_rows, count) => count,
  }
}

export function insertRequest(
  handleHash: Buffer,
  request: Omit<AuthorizationRequest, 'client' | 'decidedAt'> & { readonly clientId: string },
): Query<boolean> {
  return {
    name: 'insert_authorization_request',
    text: `insert into authorization_requests (handle_hash, client_id, redirect_uri, scopes, state, code_challenge,
        resource, agent_id, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      handleHash,
      request.clientId,
      request.redirectUri,
      request.scopes,
      request.state,
      request.codeChallenge,
      request.resource,
      request.agentId,
      request.createdAt,
      request.expiresAt,
    ],
    read: changed,
  }
}

/** By primary keys. */
export function findRequest(handleHash: Buffer): Query<AuthorizationRequest | null> {
  return {
    name: 'find_authorization_request',
    text: `select r.redirect_uri, r.scopes as requested_scopes, r.state, r.code_challenge, r.resource, r.agent_id,
        r.created_at as requested_at, r.expires_at, r.decided_at,
        c.id, c.name, c.redirect_uris, c.scopes, c.created_at, c.last_used_at
      from authorization_requests r join oauth_clients c on c.id = r.client_id where r.handle_hash = $1`,
    values: [handleHash],
    read: firstOrNull((row) => ({
      client: toClient(row),
      redirectUri: row['redirect_uri'],
      scopes: toScopes(row['requested_scopes']),
      state: row['state'],
      codeChallenge: row['code_challenge'],
      resource: row['resource'],
      agentId: row['agent_id'],
      createdAt: row['requested_at'],
      expiresAt: row['expires_at'],
      decidedAt: row['decided_at'],
    })),
  }
}

export type TakenRequest = Pick<
  AuthorizationRequest,
  'redirectUri' | 'scopes' | 'state' | 'codeChallenge' | 'resource'
> & {
  readonly clientId: string
  readonly clientName: string
  /** The client's registration, where this is the first decision on any request of it; else null. */
  readonly registration: { readonly at: Date; readonly redirectUris: number } | null
}

/** Decides on a request that is open, once. */
export function takeRequest(handleHash: Buffer, now: Date): Query<TakenRequest | null> {
  return {
    name: 'take_authorization_request',
    text: `update authorization_requests r set decided_at = $2 from oauth_clients c
      where r.handle_hash = $1 and r.decided_at is null and r.expires_at > $2 and c.id = r.client_id
      returning r.redirect_uri, r.scopes, r.state, r.code_challenge, r.resource, r.client_id, c.name,
        c.created_at, cardinality(c.redirect_uris) as redirect_uri_count, c.last_used_at`,
    values: [handleHash, now],
    read: firstOrNull((row) => ({
      redirectUri: row['redirect_uri'],
      scopes: toScopes(row['scopes']),
      state: row['state'],
      codeChallenge: row['code_challenge'],
      resource: row['resource'],
      clientId: row['client_id'],
      clientName: row['name'],
      registration:
        row['last_used_at'] === null
          ? { at: row['created_at'] as Date, redirectUris: Number(row['redirect_uri_count']) }
          : null,
    })),
  }
}

/** By `authorization_requests_by_end`. */
export function deleteEndedRequests(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_authorization_requests',
    text: `delete from authorization_requests where handle_hash in (
        select handle_hash from authorization_requests where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: (_rows, count) => count,
  }
}

function toClient(row: Row): Client {
  return {
    id: row['id'],
    name: row['name'],
    redirectUris: row['redirect_uris'],
    scopes: toScopes(row['scopes']),
    createdAt: row['created_at'],
    lastUsedAt: row['last_used_at'],
  }
}
