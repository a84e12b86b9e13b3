import type { Query } from '../../db/query.ts'
import { readProcessMs } from '../../lib/clock.ts'
import { issueFrom, readGranted, toValues, type GrantedTokens, type NewTokensOf } from './issue-at-once-store.ts'
import { SAME_USE_MS, WAIT_MS_MAX } from './limits.ts'
import type { RefreshRequest } from './refresh-tokens-store.ts'

/*
 * This is the only statement that decides by the database's clock (D38a). It compares the time at which a refresh token
 * was used with the time at which the token was sent again. Two processes may run it, and their clocks may differ by
 * more than the time that is measured here. Keep other statements out of this file, because it may read that clock.
 */

/** A request to refresh tokens, with the hash of the refresh token and the new tokens. */
export type Refresh = NewTokensOf<RefreshRequest & { readonly arrivedAtMs: number }>

/**
 * Marks refresh tokens as taken, and stores the new tokens. For each request, returns what is granted, or null if the
 * request changed nothing. It changes nothing if the refresh token is unknown, expired or taken already, or belongs to
 * another client, or if a requested scope or resource was not granted. It also changes nothing if the connection is
 * revoked or locked, or if the user who consented may no longer connect applications.
 *
 * A request is the same use as an earlier one if both have the same refresh token and the same derived successor, and
 * if they are in the same statement, or if it arrived less than `SAME_USE_MS` after the rotation. Then the same is
 * granted to it. The time of its arrival is the time of its transaction, less the time that the request had already
 * waited in this process. It is never earlier than the real arrival. So it is right however long the request waits for
 * the process, for a database connection or for the lock. If it is long before the rotation, the database's clock was
 * set back, and the request is not the same use. Uses primary keys.
 */
export function takeRefreshTokensAndIssue(refreshes: readonly Refresh[]): Query<(GrantedTokens | null)[]> {
  const uses = new Map<string, { readonly index: number; readonly refresh: Refresh }>()
  for (const refresh of refreshes) {
    const key = refresh.secretHash.toString('latin1')
    if (!uses.has(key)) uses.set(key, { index: uses.size, refresh })
  }
  const asked = [...uses.values()].map(({ refresh }) => refresh)
  return {
    name: 'take_refresh_tokens_and_issue',
    text: issueFrom({
      table: 'refresh_tokens',
      key: 'token_hash',
      asked: { columns: 'wanted, waited_ms', parameters: '$9::text[], $10::int4[]' },
      columns: ', t.rotated_at',
      changes: 'taken_at = c.now, rotated_at = clock_timestamp()',
      conditions: `(c.wanted is null or (c.wanted <> '' and c.scopes @> string_to_array(c.wanted, ' ')))`,
      scopes: `case when wanted is null then scopes
        else array(select scope from unnest(scopes) with ordinality as granted (scope, position)
          where scope = any(string_to_array(wanted, ' ')) order by position) end`,
      holdMs: '$11::int4',
      others: `union all
    select n::int4, scopes,
      ceil(extract(epoch from rotated_at + $11::int4 * interval '1 millisecond' - clock_timestamp()) * 1000)::int4
    from c
    where transaction_timestamp() < rotated_at + ($11::int4 + waited_ms) * interval '1 millisecond'
      and transaction_timestamp() > rotated_at - $12::int4 * interval '1 millisecond'
      and revoked_at is null
      and exists (
        select 1 from refresh_tokens s where s.token_hash = c.refresh_hash and s.taken_at is null offset 0)`,
    }),
    values: [
      ...toValues(asked),
      asked.map(({ scopes }) => scopes?.join(' ') ?? null),
      asked.map(({ arrivedAtMs }) => Math.floor(readProcessMs() - arrivedAtMs)),
      SAME_USE_MS,
      WAIT_MS_MAX,
    ],
    read: readGranted((grantAt) =>
      refreshes.map(({ secretHash, refreshHash }) => {
        const use = uses.get(secretHash.toString('latin1'))
        return use?.refresh.refreshHash.equals(refreshHash) === true ? grantAt(use.index) : null
      }),
    ),
  }
}
