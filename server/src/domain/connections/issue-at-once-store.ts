import { computed } from '../../db/column.ts'
import { rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { toScopes, type Scope } from '../../values/scope.ts'
import type { CodeProof } from './codes-store.ts'
import { CONSENT_HOLDS } from './connections-store.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import type { RefreshRequest } from './refresh-tokens-store.ts'
import type { NewTokens } from './tokens.ts'

/*
 * One statement takes the codes or refresh tokens of several requests, and issues the new tokens. So the common case is
 * one round trip and one commit, which many requests share (decision 0044).
 *
 * In the statement, the subquery `c` locks the connections before anything is changed, and contains each connection as
 * it was when its lock was granted. A connection that another transaction has locked is left out, so that the other
 * requests do not wait for it. The subquery `taken` then checks the newest version of the code or token, although the
 * statement's snapshot may be older. Only the membership is read from this snapshot. If the membership ends meanwhile,
 * the new tokens give no access, because every use of a token checks the membership. The `expires_at` of a code or
 * token never changes, so `c` may read it. If `taken` compared it, the planner could choose the index on `expires_at`.
 */
const GRANTED_ROW = { n: computed.int4, scopes: tables.connections.scopes }

/** A request to refresh tokens, with the hash of the refresh token and the new tokens. */
export type Refresh = { readonly secretHash: Buffer } & RefreshRequest & NewTokens

/** A request to exchange a code, with the hash of the code and the new tokens. */
export type Exchange = { readonly secretHash: Buffer } & CodeProof & NewTokens

/** Whether a statement takes refresh tokens or codes, and how it checks the requests. */
interface Taken {
  readonly table: 'refresh_tokens' | 'authorization_codes'
  readonly key: 'token_hash' | 'code_hash'
  /** The columns of `asked` after the common ones, and their parameters from $9 on. */
  readonly asked: { readonly columns: string; readonly parameters: string }
  /** What must hold besides the conditions that codes and refresh tokens have in common. */
  readonly conditions: string
  /** The scopes of the new access token. */
  readonly scopes: string
}

/**
 * Marks refresh tokens as taken, and stores the new tokens. For each request, returns the scopes of the connection, or
 * null if the request changed nothing. It changes nothing if the refresh token is unknown, expired or taken already, or
 * belongs to another client, or if a requested scope or resource was not granted. It also changes nothing if the
 * connection is revoked or locked, or if the user who consented may no longer connect applications. The list must not
 * contain a refresh token twice. Uses primary keys.
 */
export function takeRefreshTokensAndIssue(refreshes: readonly Refresh[]): Query<(Scope[] | null)[]> {
  return {
    name: 'take_refresh_tokens_and_issue',
    text: issueFrom({
      table: 'refresh_tokens',
      key: 'token_hash',
      asked: { columns: 'wanted', parameters: '$9::text[]' },
      conditions: `(c.wanted is null or (c.wanted <> '' and c.scopes @> string_to_array(c.wanted, ' ')))`,
      scopes: `case when wanted is null then scopes
        else array(select scope from unnest(scopes) with ordinality as granted (scope, position)
          where scope = any(string_to_array(wanted, ' ')) order by position) end`,
    }),
    values: [...toValues(refreshes), refreshes.map(({ scopes }) => scopes?.join(' ') ?? null)],
    read: readGranted(refreshes.length),
  }
}

/**
 * Does for codes what `takeRefreshTokensAndIssue` does for refresh tokens. Also returns null if the code has too many
 * failures, or if the redirect URI or the challenge differs from the stored one (D38). Uses primary keys.
 */
export function takeCodesAndIssue(exchanges: readonly Exchange[]): Query<(Scope[] | null)[]> {
  return {
    name: 'take_codes_and_issue',
    text: issueFrom({
      table: 'authorization_codes',
      key: 'code_hash',
      asked: { columns: 'redirect_uri, code_challenge', parameters: '$9::text[], $10::text[]' },
      conditions: `t.failures < $11 and t.redirect_uri = c.redirect_uri and t.code_challenge = c.code_challenge`,
      scopes: 'scopes',
    }),
    values: [
      ...toValues(exchanges),
      exchanges.map(({ redirectUri }) => redirectUri),
      exchanges.map(({ codeChallenge }) => codeChallenge),
      CODE_FAILURES_MAX,
    ],
    read: readGranted(exchanges.length),
  }
}

/** Returns the parameters $1 to $8, which the statements for refresh tokens and for codes have in common. */
function toValues(requests: readonly (Refresh | Exchange)[]): readonly unknown[] {
  return [
    requests.map(({ secretHash }) => secretHash),
    requests.map(({ now }) => now),
    requests.map(({ clientId }) => clientId),
    requests.map(({ resource }) => resource),
    requests.map(({ accessHash }) => accessHash),
    requests.map(({ accessEnd }) => accessEnd),
    requests.map(({ refreshHash }) => refreshHash),
    requests.map(({ refreshEnd }) => refreshEnd),
  ]
}

function readGranted(count: number): Query<(Scope[] | null)[]>['read'] {
  return rowsOf(GRANTED_ROW, (rows) => {
    const granted = new Map(rows.map((row) => [row.n, toScopes(row.scopes)]))
    return Array.from({ length: count }, (_, index) => granted.get(index + 1) ?? null)
  })
}

function issueFrom({ table, key, asked, conditions, scopes }: Taken): string {
  return `with c as materialized (
      select asked.*, t.token_end, c.*
      from unnest($1::bytea[], $2::timestamptz[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[], $7::bytea[],
          $8::timestamptz[], ${asked.parameters}) with ordinality
        as asked (hash, now, asked_client, asked_resource, access_hash, access_end, refresh_hash, refresh_end,
          ${asked.columns}, n)
      cross join lateral (
        select t.account_id as of_account, t.connection_id as of_connection, t.expires_at as token_end
        from ${table} t where t.${key} = asked.hash offset 0) t
      cross join lateral (
        select account_id, id, scopes, client_id, resource, revoked_at, user_id, member_since from connections
        where account_id = t.of_account and id = t.of_connection for no key update skip locked) c
    ), taken as (
      update ${table} t set taken_at = c.now from c
      where t.${key} = c.hash and t.taken_at is null and c.token_end > c.now
        and c.client_id = c.asked_client and c.revoked_at is null
        and (c.asked_resource is null or c.resource is null or c.resource = c.asked_resource)
        and ${conditions} and ${CONSENT_HOLDS}
      returning c.*
    ), access_token as (
      insert into access_tokens (token_hash, account_id, connection_id, scopes, expires_at)
      select access_hash, account_id, id, ${scopes}, access_end from taken
    ), refresh_token as (
      insert into refresh_tokens (token_hash, account_id, connection_id, created_at, expires_at)
      select refresh_hash, account_id, id, now, refresh_end from taken
    )
    update connections set expires_at = taken.refresh_end, connected_at = coalesce(connected_at, taken.now)
    from taken where connections.account_id = taken.account_id and connections.id = taken.id
    returning taken.n::int4 as n, connections.scopes`
}
