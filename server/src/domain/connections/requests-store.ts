import { computed, listOf, nullable, pick, type RowOf } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { attemptRowEnd, type AttemptBucket } from '../../limiter/attempts.ts'
import { attemptLimits, countAttemptsOf, HITS_COLUMN } from '../../limiter/limiter-store.ts'
import { toScopes } from '../../values/scope.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { identityHostOf, type Client, type ClientKind } from './client.ts'

const { authorization_requests: requests, oauth_clients: clients } = tables

const CLIENT_ROW = pick(
  clients,
  'id',
  'kind',
  'name',
  'redirect_uris',
  'scopes',
  'created_at',
  'last_used_at',
  'fetched_at',
  'fresh_until',
)

const REQUEST_ROW = {
  redirect_uri: requests.redirect_uri,
  requested_scopes: requests.scopes,
  ...pick(requests, 'state', 'code_challenge', 'resource', 'agent_id'),
  requested_at: requests.created_at,
  ...pick(requests, 'expires_at', 'decided_at'),
  ...CLIENT_ROW,
}

const TAKEN_ROW = {
  ...pick(requests, 'redirect_uri', 'scopes', 'state', 'code_challenge', 'resource', 'client_id'),
  ...pick(clients, 'kind', 'name', 'created_at', 'last_used_at'),
  redirect_uri_count: computed.int4,
}

const CLIENT_COLUMNS = listOf(CLIENT_ROW)

export function insertClient(client: Client): Query<boolean> {
  return {
    name: 'insert_oauth_client',
    text: `insert into oauth_clients (${CLIENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: toClientValues(client),
    read: changed,
  }
}

/**
 * Stores a copy of a client's document. The new copy replaces a stored copy that is built in, or that was read at
 * `replacedUntil` or before. Returns the stored client, or null if a newer copy was kept. Uses the primary key.
 */
export function saveDocument(client: Client, replacedUntil: Date): Query<Client | null> {
  return {
    name: 'save_oauth_client_document',
    text: `insert into oauth_clients as c (${CLIENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
        scopes = excluded.scopes, fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until
      where c.kind = 'document' and (c.fetched_at is null or c.fetched_at <= $10)
      returning ${CLIENT_COLUMNS}`,
    values: [...toClientValues(client), replacedUntil],
    read: firstOrNull(CLIENT_ROW, toClient),
  }
}

export function findClientRow(id: string): Query<Client | null> {
  return {
    name: 'find_oauth_client',
    text: `select ${CLIENT_COLUMNS} from oauth_clients where id = $1`,
    values: [id],
    read: firstOrNull(CLIENT_ROW, toClient),
  }
}

const COUNTED_CLIENT_ROW = { n: computed.int4, ...CLIENT_ROW, hits: nullable(computed.text) }

/** A request of the client `id`. The request is counted under `subject`. */
export interface ClientRequest {
  readonly id: string
  readonly subject: Buffer
  readonly now: Date
}

export type CountedClient = { readonly client: Client; readonly isCounted: boolean } | null

/**
 * Finds clients, and counts an attempt for each. Returns null for an id that no client has; then nothing is counted.
 * `isCounted` is false if the limit rejects the attempt. No two attempts may have the same subject. Uses primary keys.
 */
export function findClientsAndCount(bucket: AttemptBucket, attempts: readonly ClientRequest[]): Query<CountedClient[]> {
  return {
    name: 'find_oauth_clients_and_count',
    text: `with found as materialized (
        select asked.n::int4 as n, asked.subject, asked.time, asked.row_end, client.*
        from unnest($4::text[], $5::bytea[], $6::int8[], $7::timestamptz[]) with ordinality
          as asked (client_id, subject, time, row_end, n)
        cross join lateral (select ${CLIENT_COLUMNS} from oauth_clients where id = asked.client_id offset 0) client
      ), counted as (${countAttemptsOf('select subject, time, row_end from found')})
      select n, ${CLIENT_COLUMNS}, ${HITS_COLUMN} from found left join counted on counted.subject = found.subject`,
    values: [
      ...attemptLimits(bucket),
      attempts.map(({ id }) => id),
      attempts.map(({ subject }) => subject),
      attempts.map(({ now }) => now.getTime()),
      attempts.map(({ now }) => attemptRowEnd(bucket, now)),
    ],
    read: rowsOf(COUNTED_CLIENT_ROW, (rows) => {
      const found = new Map(rows.map((row) => [row.n, row]))
      return attempts.map((_, index) => {
        const row = found.get(index + 1)
        return row === undefined ? null : { client: toClient(row), isCounted: row.hits !== null }
      })
    }),
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

/**
 * Deletes clients without a stored request, if no user has ever decided on one of their requests. Uses the index
 * `oauth_clients_never_used`.
 */
export function deleteUnusedClients(createdBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_unused_oauth_clients',
    text: `delete from oauth_clients where id in (
        select c.id from oauth_clients c where c.last_used_at is null and c.created_at <= $1
          and not exists (select 1 from authorization_requests r where r.client_id = c.id)
        order by c.created_at limit $2 for update of c skip locked)`,
    values: [createdBefore, rowsMax],
    read: countChanged,
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

/** Uses primary keys. */
export function findRequest(handleHash: Buffer): Query<AuthorizationRequest | null> {
  return {
    name: 'find_authorization_request',
    text: `select r.redirect_uri, r.scopes as requested_scopes, r.state, r.code_challenge, r.resource, r.agent_id,
        r.created_at as requested_at, r.expires_at, r.decided_at,
        c.id, c.kind, c.name, c.redirect_uris, c.scopes, c.created_at, c.last_used_at, c.fetched_at, c.fresh_until
      from authorization_requests r join oauth_clients c on c.id = r.client_id where r.handle_hash = $1`,
    values: [handleHash],
    read: firstOrNull(REQUEST_ROW, (row) => ({
      client: toClient(row),
      redirectUri: row.redirect_uri,
      scopes: toScopes(row.requested_scopes),
      state: row.state,
      codeChallenge: row.code_challenge,
      resource: row.resource,
      agentId: row.agent_id,
      createdAt: row.requested_at,
      expiresAt: row.expires_at,
      decidedAt: row.decided_at,
    })),
  }
}

export type TakenRequest = Pick<
  AuthorizationRequest,
  'redirectUri' | 'scopes' | 'state' | 'codeChallenge' | 'resource'
> & {
  readonly clientId: string
  readonly clientKind: ClientKind
  /** How the audit log names the client: by the host of its document, or by the name that it registered. */
  readonly clientName: string
  /** The client's registration if this is the first decision on any of its requests; otherwise null. */
  readonly registration: { readonly at: Date; readonly redirectUris: number } | null
}

/** Marks an open request as decided and returns it. Returns null if it is unknown, expired or decided already. */
export function takeRequest(handleHash: Buffer, now: Date): Query<TakenRequest | null> {
  return {
    name: 'take_authorization_request',
    text: `update authorization_requests r set decided_at = $2 from oauth_clients c
      where r.handle_hash = $1 and r.decided_at is null and r.expires_at > $2 and c.id = r.client_id
      returning r.redirect_uri, r.scopes, r.state, r.code_challenge, r.resource, r.client_id, c.kind, c.name,
        c.created_at, cardinality(c.redirect_uris) as redirect_uri_count, c.last_used_at`,
    values: [handleHash, now],
    read: firstOrNull(TAKEN_ROW, (row) => ({
      redirectUri: row.redirect_uri,
      scopes: toScopes(row.scopes),
      state: row.state,
      codeChallenge: row.code_challenge,
      resource: row.resource,
      clientId: row.client_id,
      clientKind: row.kind,
      clientName: identityHostOf({ id: row.client_id, kind: row.kind }) ?? row.name,
      registration: row.last_used_at === null ? { at: row.created_at, redirectUris: row.redirect_uri_count } : null,
    })),
  }
}

/** Uses the index `authorization_requests_by_end`. */
export function deleteEndedRequests(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_authorization_requests',
    text: `delete from authorization_requests where handle_hash in (
        select handle_hash from authorization_requests where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: countChanged,
  }
}

function toClient(row: RowOf<typeof CLIENT_ROW>): Client {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    redirectUris: row.redirect_uris,
    scopes: toScopes(row.scopes),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    fetchedAt: row.fetched_at,
    freshUntil: row.fresh_until,
  }
}

/** Returns the values of a client's row, in the order of `CLIENT_COLUMNS`. */
function toClientValues(client: Client): unknown[] {
  const { id, kind, name, redirectUris, scopes, createdAt, lastUsedAt, fetchedAt, freshUntil } = client
  return [id, kind, name, redirectUris, scopes, createdAt, lastUsedAt, fetchedAt, freshUntil]
}
