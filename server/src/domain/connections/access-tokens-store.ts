import { computed, nullable, pick } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { countRequestOf, countValues, readCounted } from '../../limiter/limiter-store.ts'
import { toScopes, type Scope } from '../../values/scope.ts'
import { toPlan } from '../accounts/accounts-store.ts'
import type { Plan } from '../plans/plan.ts'
import type { Connection } from './connection.ts'
import { CONSENT_HOLDS, type TokenConnection } from './connections-store.ts'

export function insertAccessToken(
  tokenHash: Buffer,
  { connection, scopes, expiresAt }: { connection: TokenConnection; scopes: readonly Scope[]; expiresAt: Date },
): Query<boolean> {
  return {
    name: 'insert_access_token',
    text: `insert into access_tokens (token_hash, account_id, connection_id, scopes, expires_at)
      values ($1, $2, $3, $4, $5)`,
    values: [tokenHash, connection.accountId, connection.id, scopes, expiresAt],
    read: changed,
  }
}

const { access_tokens: tokens, accounts, connections } = tables

const HOLDER_ROW = {
  ...pick(connections, 'account_id', 'id', 'mode', 'agent_id', 'user_id', 'client_id', 'resource'),
  ...pick(connections, 'rate_subject', 'expires_at'),
  scopes: tokens.scopes,
  ...pick(accounts, 'slug', 'name', 'plan'),
  has_scope: computed.bool,
  hits: nullable(computed.text),
}

export interface TokenHolder {
  readonly connection: Omit<Connection, 'scopes' | 'createdAt'>
  /** The token's own scopes, which may be fewer than the connection's. */
  readonly scopes: readonly Scope[]
  readonly account: { readonly slug: string; readonly name: string; readonly plan: Plan }
  /** Whether the token has the required scope; true if no scope is required. */
  readonly hasScope: boolean
}

/**
 * Returns the holder of the valid access token with this hash, and counts this request against the connection's rate
 * limit. `rate` is null if the request was not counted, because it is over the limit or the token does not have the
 * required scope. Uses primary keys; `offset 0` forces the planner to use them.
 */
export function countTokenRequest(
  tokenHash: Buffer,
  { bucket, requiredScope, now }: { bucket: Bucket; requiredScope: Scope | null; now: Date },
): Query<(TokenHolder & { rate: RateState | null }) | null> {
  return {
    name: 'count_token_request',
    text: `with live as (
        select c.account_id, c.id, c.mode, c.agent_id, c.user_id, c.client_id, c.resource, c.rate_subject, c.expires_at,
          t.scopes, a.slug, a.name, a.plan, $8::text is null or $8 = any(t.scopes) as has_scope
        from access_tokens t
        cross join lateral (
          select account_id, id, mode, agent_id, user_id, member_since, client_id, resource, rate_subject, expires_at, revoked_at
          from connections where account_id = t.account_id and id = t.connection_id offset 0
        ) c
        join accounts a on a.id = c.account_id
        where t.token_hash = $1 and t.expires_at > $7 and c.revoked_at is null and ${CONSENT_HOLDS}
      ), counted as (${countRequestOf('(select rate_subject from live where has_scope)')})
      select live.*, (select hits from counted) as hits from live`,
    values: [...countValues(tokenHash, bucket, now), now, requiredScope],
    read: firstOrNull(HOLDER_ROW, (row) => ({
      connection: {
        accountId: row.account_id,
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
      account: { slug: row.slug, name: row.name, plan: toPlan(row.plan) },
      hasScope: row.has_scope,
      rate: readCounted(row.hits, bucket, now),
    })),
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
