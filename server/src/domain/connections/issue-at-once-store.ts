import { computed } from '../../db/column.ts'
import { rowsOf, type Query } from '../../db/query.ts'
import { toScopes, type Scope } from '../../values/scope.ts'
import type { CodeProof } from './codes-store.ts'
import { CONSENT_HOLDS } from './connections-store.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import type { NewTokens } from './tokens.ts'

/*
 * One statement takes the codes or refresh tokens of several requests, and issues the new tokens. So the common case is
 * one round trip and one commit, which many requests share (decision 0038).
 *
 * In the statement, the subquery `c` locks the connections before anything is changed, and contains each connection as
 * it was when its lock was granted. A connection that another transaction has locked is left out, so that the other
 * requests do not wait for it. The subquery `taken` then checks the newest version of the code or token, although the
 * statement's snapshot may be older. Only the membership is read from this snapshot. If the membership ends meanwhile,
 * the new tokens give no access, because every use of a token checks the membership. The `expires_at` of a code or
 * token never changes, so `c` may read it. If `taken` compared it, the planner could choose the index on `expires_at`.
 */
const GRANTED_ROW = { n: computed.int4, scopes: computed.textArray, hold_ms: computed.int4 }

/** A request for tokens, with the hash of its code or refresh token, and the new tokens. */
export type NewTokensOf<Request> = { readonly secretHash: Buffer } & Request & NewTokens

/** A request to exchange a code, with the hash of the code and the new tokens. */
export type Exchange = NewTokensOf<CodeProof>

/** What is granted to a request. */
export interface GrantedTokens {
  /** The scopes of the connection. */
  readonly scopes: readonly Scope[]
  /** How long the tokens must be held back, counted from the end of the statement (D38a). */
  readonly holdMs: number
}

/** Whether a statement takes refresh tokens or codes, and how it checks the requests. */
interface Taken {
  readonly table: 'refresh_tokens' | 'authorization_codes'
  readonly key: 'token_hash' | 'code_hash'
  /** The columns of `asked` after the common ones, and their parameters from $9 on. */
  readonly asked: { readonly columns: string; readonly parameters: string }
  /** Further columns of the code or refresh token that `c` contains. */
  readonly columns: string
  /** How a code or refresh token is marked as taken. */
  readonly changes: string
  /** What must hold besides the conditions that codes and refresh tokens have in common. */
  readonly conditions: string
  /** The scopes of the new access token. */
  readonly scopes: string
  readonly holdMs: string
  /** Adds the requests to which something is granted although they take nothing. */
  readonly others: string
}

/**
 * Marks codes as taken, and stores the new tokens. For each request, returns what is granted, or null if the request
 * changed nothing. It changes nothing if the code is unknown, expired or taken already, belongs to another client, or
 * has too many failures, or if the resource, the redirect URI or the challenge differs from the stored one (D38). It
 * also changes nothing if the connection is revoked or locked, or if the user who consented may no longer connect
 * applications. The list must not contain a code twice. Uses primary keys.
 */
export function takeCodesAndIssue(exchanges: readonly Exchange[]): Query<(GrantedTokens | null)[]> {
  return {
    name: 'take_codes_and_issue',
    text: issueFrom({
      table: 'authorization_codes',
      key: 'code_hash',
      asked: { columns: 'redirect_uri, code_challenge', parameters: '$9::text[], $10::text[]' },
      columns: '',
      changes: 'taken_at = c.now',
      conditions: `t.failures < $11 and t.redirect_uri = c.redirect_uri and t.code_challenge = c.code_challenge`,
      scopes: 'scopes',
      holdMs: '0',
      others: '',
    }),
    values: [
      ...toValues(exchanges),
      exchanges.map(({ redirectUri }) => redirectUri),
      exchanges.map(({ codeChallenge }) => codeChallenge),
      CODE_FAILURES_MAX,
    ],
    read: readGranted((grantAt) => exchanges.map((_, index) => grantAt(index))),
  }
}

/** Returns the parameters $1 to $8, which the statements for refresh tokens and for codes have in common. */
export function toValues(
  requests: readonly NewTokensOf<{ readonly clientId: string; readonly resource: string | null }>[],
): readonly unknown[] {
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

/** Makes a reader of the result. `toResults` gets a function that returns what is granted to the request at an index. */
export function readGranted(
  toResults: (grantAt: (index: number) => GrantedTokens | null) => (GrantedTokens | null)[],
): Query<(GrantedTokens | null)[]>['read'] {
  return rowsOf(GRANTED_ROW, (rows) => {
    const granted = new Map(rows.map((row) => [row.n, { scopes: toScopes(row.scopes), holdMs: row.hold_ms }]))
    return toResults((index) => granted.get(index + 1) ?? null)
  })
}

export function issueFrom({ table, key, asked, columns, changes, conditions, scopes, holdMs, others }: Taken): string {
  return `with c as materialized (
      select asked.*, t.token_end${columns}, c.*
      from unnest($1::bytea[], $2::timestamptz[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[], $7::bytea[],
          $8::timestamptz[], ${asked.parameters}) with ordinality
        as asked (hash, now, asked_client, asked_resource, access_hash, access_end, refresh_hash, refresh_end,
          ${asked.columns}, n)
      cross join lateral (
        select t.workspace_id as of_workspace, t.connection_id as of_connection, t.expires_at as token_end${columns}
        from ${table} t where t.${key} = asked.hash offset 0) t
      cross join lateral (
        select workspace_id, id, scopes, client_id, resource, revoked_at, user_id, member_since from connections
        where workspace_id = t.of_workspace and id = t.of_connection for no key update skip locked) c
    ), taken as (
      update ${table} t set ${changes} from c
      where t.${key} = c.hash and t.taken_at is null and c.token_end > c.now
        and c.client_id = c.asked_client and c.revoked_at is null
        and (c.asked_resource is null or c.resource is null or c.resource = c.asked_resource)
        and ${conditions} and ${CONSENT_HOLDS}
      returning c.*
    ), access_token as (
      insert into access_tokens (token_hash, workspace_id, connection_id, scopes, expires_at)
      select access_hash, workspace_id, id, ${scopes}, access_end from taken
    ), refresh_token as (
      insert into refresh_tokens (token_hash, workspace_id, connection_id, created_at, expires_at)
      select refresh_hash, workspace_id, id, now, refresh_end from taken
    ), connected as (
      update connections set expires_at = taken.refresh_end, connected_at = coalesce(connected_at, taken.now)
      from taken where connections.workspace_id = taken.workspace_id and connections.id = taken.id
      returning taken.n, connections.scopes
    )
    select n::int4 as n, coalesce(scopes, '{}') as scopes, ${holdMs} as hold_ms from connected ${others}`
}
