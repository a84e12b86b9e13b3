import { isRetryable } from '../../db/errors.ts'
import type { GatheredQuery } from '../../db/gathered-query.ts'
import type { Scope } from '../../values/scope.ts'
import { createSecret, deriveSecret, hashSecret, SECRET_PREFIXES, type Cell } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { GrantedTokens } from './issue-at-once-store.ts'
import { ACCESS_TOKEN_LIFETIME_SECONDS, REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { narrowScopes } from './narrow-scopes.ts'
import type { RefreshRequest } from './refresh-tokens-store.ts'
import type { NewTokens, Tokens } from './tokens.ts'

/** Tokens that were created and are not stored yet. */
export interface CreatedTokens {
  readonly stored: NewTokens
  readonly accessToken: string
  readonly refreshToken: string
}

/** Creates a random access token and refresh token. They are valid once they are stored. */
export function createTokens(now: Date, cell: Cell | null): CreatedTokens {
  return toCreated(now, (prefix) => createSecret(prefix, cell))
}

/**
 * Derives the successors of a refresh token: an access token and a refresh token. The same request always gets the same
 * ones, although only their hashes are stored (D38a). They are valid once they are stored.
 */
export function deriveTokens(
  now: Date,
  {
    key,
    cell,
    refreshToken,
    request,
  }: { key: Buffer; cell: Cell | null; refreshToken: string; request: RefreshRequest },
): CreatedTokens {
  const { clientId, scopes, resource } = request
  const from = [refreshToken, clientId, scopes && [...new Set(scopes)].toSorted().join(' '), resource]
  return toCreated(now, (prefix) => deriveSecret(prefix, { key, from, cell }))
}

function toCreated(now: Date, create: (prefix: string) => string): CreatedTokens {
  const accessToken = create(SECRET_PREFIXES.accessToken)
  const refreshToken = create(SECRET_PREFIXES.refreshToken)
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
 * `statement` returns what is granted. Returns null if nothing was changed: the request is not allowed, its
 * connection is locked, or the statement conflicted with another transaction. The caller then repeats the statement in
 * a transaction, which waits for the lock and finds out why nothing was changed.
 */
export async function issueAtOnce<Item>(
  ctx: Pick<Context, 'db'>,
  statement: Issue<Item>,
  item: Item,
): Promise<GrantedTokens | null> {
  return await ctx.db.gather(statement, item).catch((error: unknown) => {
    // The statement has changed nothing. The caller now runs it in a transaction, which is repeated after a conflict.
    if (isRetryable(error)) return null
    throw error
  })
}

/**
 * A durable statement that issues tokens for several requests. For each request it returns what is granted, or null if
 * it issued no tokens.
 */
export type Issue<Item> = GatheredQuery<Item, GrantedTokens | null>

/** Returns the created tokens as the client gets them. `wanted` are the requested scopes; null means all. */
export function toTokens(
  { accessToken, refreshToken }: CreatedTokens,
  { scopes: granted }: GrantedTokens,
  wanted: readonly Scope[] | null,
): Tokens {
  const scopes = narrowScopes(granted, wanted) ?? granted
  return { kind: 'issued', accessToken, refreshToken, scopes, expiresInSeconds: ACCESS_TOKEN_LIFETIME_SECONDS }
}
