import { isRetryable } from '../../db/errors.ts'
import type { GatheredQuery } from '../../db/gathered-query.ts'
import type { Scope } from '../../values/scope.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { ACCESS_TOKEN_LIFETIME_SECONDS, REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { narrowScopes } from './narrow-scopes.ts'
import type { NewTokens, Tokens } from './tokens.ts'

/** Tokens that were created and are not stored yet. */
export interface CreatedTokens {
  readonly stored: NewTokens
  readonly accessToken: string
  readonly refreshToken: string
}

/** Creates an access token and a refresh token. They are valid once they are stored. */
export function createTokens(now: Date): CreatedTokens {
  const accessToken = createSecret(SECRET_PREFIXES.accessToken)
  const refreshToken = createSecret(SECRET_PREFIXES.refreshToken)
  const stored = {
    now,
    accessHash: hashSecret(accessToken),
    accessEnd: new Date(now.getTime() + ACCESS_TOKEN_LIFETIME_SECONDS * 1_000),
    refreshHash: hashSecret(refreshToken),
    refreshEnd: new Date(now.getTime() + REFRESH_TOKEN_LIFETIME_MS),
  }
  return { stored, accessToken, refreshToken }
}

/**
 * Uses up a code or refresh token and issues the created tokens, in one round trip that several requests can share.
 * `statement` returns the granted scopes. Returns null if nothing was changed: the request is not allowed, its
 * connection is locked, or the statement conflicted with another transaction. The caller then repeats the statement in
 * a transaction, which waits for the lock and finds out why nothing was changed.
 */
export async function issueAtOnce<Item>(
  ctx: Pick<Context, 'db'>,
  created: CreatedTokens,
  { statement, item, wanted }: { statement: Issue<Item>; item: Item; wanted: readonly Scope[] | null },
): Promise<Tokens | null> {
  const granted = await ctx.db.runGatheredDurable(statement, item).catch((error: unknown) => {
    // The statement has changed nothing. The caller now runs it in a transaction, which is repeated after a conflict.
    if (isRetryable(error)) return null
    throw error
  })
  return granted === null ? null : toTokens(created, granted, wanted)
}

/**
 * A statement that issues tokens for several requests. For each request it returns the granted scopes, or null if it
 * issued no tokens.
 */
export type Issue<Item> = GatheredQuery<Item, Scope[] | null>

/** Returns the created tokens as the client gets them. `wanted` are the requested scopes; null means all. */
export function toTokens(
  { accessToken, refreshToken }: CreatedTokens,
  granted: readonly Scope[],
  wanted: readonly Scope[] | null,
): Tokens {
  const scopes = narrowScopes(granted, wanted) ?? granted
  return { kind: 'issued', accessToken, refreshToken, scopes, expiresInSeconds: ACCESS_TOKEN_LIFETIME_SECONDS }
}
