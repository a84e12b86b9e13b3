import { computed, nullable, pick, type RowOf } from '../../db/column.ts'
import { POSTPONED } from '../../db/batcher.ts'
import { countChanged, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { countLimits, countRequestsOf, HITS_COLUMN, readCounted } from '../../limiter/limiter-store.ts'
import { toScopes, type Scope } from '../../values/scope.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { toPlan } from '../workspaces/workspaces-store.ts'
import type { Connection } from './connection.ts'
import { CONSENT_HOLDS } from './connections-store.ts'

const { access_tokens: tokens, workspaces, connections } = tables

const HOLDER_ROW = {
  n: computed.int4,
  ...pick(connections, 'workspace_id', 'id', 'mode', 'agent_id', 'user_id', 'client_id', 'resource'),
  ...pick(connections, 'rate_subject', 'expires_at'),
  scopes: tokens.scopes,
  ...pick(workspaces, 'slug', 'name', 'plan', 'created_by', 'moving_since'),
  has_scope: computed.bool,
  hits: nullable(computed.text),
}

export interface TokenHolder {
  readonly connection: Omit<Connection, 'scopes' | 'createdAt'>
  /** The token's own scopes, which may be fewer than the connection's. */
  readonly scopes: readonly Scope[]
  readonly workspace: Pick<Workspace, 'slug' | 'name' | 'plan' | 'createdBy' | 'movingSince'>
  /** Whether the token has the required scope; true if no scope is required. */
  readonly hasScope: boolean
}

/** A request with an access token: the values with which the token's holder is found and the request is counted. */
export interface TokenRequest {
  readonly tokenHash: Buffer
  readonly requiredScope: Scope | null
  readonly now: Date
}

type CountedToken = (TokenHolder & { rate: RateState | null }) | null

/**
 * Returns the holder of each valid access token, otherwise null, and counts the request against the connection's rate
 * limit. `rate` is null if the request was not counted, because it is over the limit or the token does not have the
 * required scope. A token may be in the list only once. If the list contains several tokens of one connection, only the
 * first is counted, and the others get `POSTPONED`. Uses primary keys. `offset 0` keeps other conditions out of the
 * inner queries, so the planner must use these keys.
 */
export function countTokenRequests(
  bucket: Bucket,
  requests: readonly TokenRequest[],
): Query<(CountedToken | typeof POSTPONED)[]> {
  return {
    name: 'count_token_requests',
    text: `with live as materialized (
        select r.n::int4 as n, r.time, c.workspace_id, c.id, c.mode, c.agent_id, c.user_id, c.client_id, c.resource,
          c.rate_subject, c.expires_at, t.scopes, a.slug, a.name, a.plan, a.created_by, a.moving_since,
          r.scope is null or r.scope = any(t.scopes) as has_scope
        from unnest($1::bytea[], $5::int8[], $6::text[], $7::timestamptz[]) with ordinality
          as r (token_hash, time, scope, now, n)
        cross join lateral (
          select workspace_id, connection_id, scopes, expires_at from access_tokens
          where token_hash = r.token_hash offset 0) t
        cross join lateral (
          select workspace_id, id, mode, agent_id, user_id, member_since, client_id, resource, rate_subject, expires_at,
            revoked_at
          from connections where workspace_id = t.workspace_id and id = t.connection_id offset 0) c
        cross join lateral (
          select slug, name, plan, created_by, moving_since from workspaces where id = c.workspace_id offset 0) a
        where t.expires_at > r.now and c.revoked_at is null and ${CONSENT_HOLDS}
      ), counted as (${countRequestsOf(
        'select distinct on (rate_subject) rate_subject as subject, time from live where has_scope order by rate_subject, n',
      )})
      select n, workspace_id, id, mode, agent_id, user_id, client_id, resource, rate_subject, expires_at, scopes,
        slug, name, plan, created_by, moving_since, has_scope, ${HITS_COLUMN}
      from live left join counted on counted.subject = live.rate_subject
      order by n`,
    values: [
      requests.map(({ tokenHash }) => tokenHash),
      ...countLimits(bucket),
      requests.map(({ now }) => now.getTime()),
      requests.map(({ requiredScope }) => requiredScope),
      requests.map(({ now }) => now),
    ],
    read: rowsOf(HOLDER_ROW, (rows) => {
      const found = new Map(rows.map((row) => [row.n, row]))
      const counted = new Set<string>()
      return requests.map(({ now }, index) => {
        const row = found.get(index + 1)
        if (row === undefined) return null
        if (!row.has_scope) return { ...toHolder(row), rate: null }
        const subject = row.rate_subject.toString('latin1')
        if (counted.has(subject)) return POSTPONED
        counted.add(subject)
        return { ...toHolder(row), rate: readCounted(row.hits, bucket, now) }
      })
    }),
  }
}

function toHolder(row: RowOf<typeof HOLDER_ROW>): TokenHolder {
  return {
    connection: {
      workspaceId: row.workspace_id,
      id: row.id,
      mode: row.mode,
      agentId: row.agent_id,
      userId: row.user_id,
      clientId: row.client_id,
      resource: row.resource,
      rateSubject: row.rate_subject,
      expiresAt: row.expires_at,
    },
    scopes: toScopes(row.scopes),
    workspace: {
      slug: row.slug,
      name: row.name,
      plan: toPlan(row.plan),
      createdBy: row.created_by,
      movingSince: row.moving_since,
    },
    hasScope: row.has_scope,
  }
}

/** Uses the index `access_tokens_by_end`. */
export function deleteEndedAccessTokens(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_access_tokens',
    text: `delete from access_tokens where token_hash in (
        select token_hash from access_tokens where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: countChanged,
  }
}
