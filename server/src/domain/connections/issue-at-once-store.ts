import { pick } from '../../db/column.ts'
import { firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { toScopes, type Scope } from '../../values/scope.ts'
import type { CodeProof } from './codes-store.ts'
import { CONSENT_HOLDS } from './connections-store.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import type { RefreshRequest } from './refresh-tokens-store.ts'
import type { NewTokens } from './tokens.ts'

/*
 * One statement takes a code or a refresh token, and issues the new tokens. So the common case is one round trip and
 * one commit.
 *
 * `c` locks the connection before anything is changed, and contains the connection as it is when the lock was granted.
 * The update in `taken` then checks the newest version of the code or token, although the statement's snapshot is from
 * before the wait. Only the membership is read from this snapshot. A membership that ends during the wait ends the
 * access of the new tokens too, because every use of a token checks it. The end of a code or token never changes, so it
 * is read with `c`. In the update, it would let the planner choose the index of ends.
 */
const GRANTED_ROW = pick(tables.connections, 'scopes')

/**
 * Takes a refresh token under the conditions of `takeRefreshToken`, and stores the new tokens. Returns the granted
 * scopes, or null if nothing was changed. Uses primary keys.
 */
export function takeRefreshTokenAndIssue(
  tokenHash: Buffer,
  request: RefreshRequest,
  issued: NewTokens,
): Query<Scope[] | null> {
  return {
    name: 'take_refresh_token_and_issue',
    text: issueFrom({
      table: 'refresh_tokens',
      key: 'token_hash',
      conditions: `($8::text[] is null or (cardinality($8) > 0 and c.scopes @> $8))`,
      scopes: `case when $8::text[] is null then scopes
        else array(select scope from unnest(scopes) with ordinality as granted (scope, n)
          where scope = any($8) order by n) end`,
    }),
    values: [tokenHash, ...toValues(request, issued), request.scopes],
    read: firstOrNull(GRANTED_ROW, (row) => toScopes(row.scopes)),
  }
}

/** Does the same as `takeRefreshTokenAndIssue` for a code, under the conditions of `takeCode`. Uses primary keys. */
export function takeCodeAndIssue(codeHash: Buffer, proof: CodeProof, issued: NewTokens): Query<Scope[] | null> {
  return {
    name: 'take_code_and_issue',
    text: issueFrom({
      table: 'authorization_codes',
      key: 'code_hash',
      conditions: 't.failures < $8 and t.redirect_uri = $9 and t.code_challenge = $10',
      scopes: 'scopes',
    }),
    values: [codeHash, ...toValues(proof, issued), CODE_FAILURES_MAX, proof.redirectUri, proof.codeChallenge],
    read: firstOrNull(GRANTED_ROW, (row) => toScopes(row.scopes)),
  }
}

/** The parameters $2 to $7 of both statements. */
function toValues(
  { clientId, resource }: { clientId: string; resource: string | null },
  { now, accessHash, accessEnd, refreshHash, refreshEnd }: NewTokens,
): readonly unknown[] {
  return [now, clientId, resource, [accessHash, refreshHash], accessEnd, refreshEnd]
}

/** `scopes` is the SQL for the scopes of the new access token. */
function issueFrom({
  table,
  key,
  conditions,
  scopes,
}: {
  table: 'refresh_tokens' | 'authorization_codes'
  key: string
  conditions: string
  scopes: string
}): string {
  return `with c as materialized (
      select c.account_id, c.id, c.scopes, c.client_id, c.resource, c.revoked_at, c.user_id, c.member_since,
        t.expires_at as token_end
      from ${table} t join connections c on c.account_id = t.account_id and c.id = t.connection_id
      where t.${key} = $1 for no key update of c
    ), taken as (
      update ${table} t set taken_at = $2 from c
      where t.${key} = $1 and t.taken_at is null and c.token_end > $2
        and c.client_id = $3 and c.revoked_at is null and ($4::text is null or c.resource is null or c.resource = $4)
        and ${conditions} and ${CONSENT_HOLDS}
      returning c.account_id, c.id, c.scopes
    ), access_token as (
      insert into access_tokens (token_hash, account_id, connection_id, scopes, expires_at)
      select ($5::bytea[])[1], account_id, id, ${scopes}, $6::timestamptz from taken
    ), refresh_token as (
      insert into refresh_tokens (token_hash, account_id, connection_id, created_at, expires_at)
      select ($5::bytea[])[2], account_id, id, $2, $7::timestamptz from taken
    )
    update connections set expires_at = $7, connected_at = coalesce(connected_at, $2)
    from taken where connections.account_id = taken.account_id and connections.id = taken.id
    returning connections.scopes`
}
