import { gathered, type GatheredQuery } from '../../db/gathered-query.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { findWindow } from '../../limiter/limiter-store.ts'
import { parseApiKeySecret } from '../../values/api-key.ts'
import type { Scope } from '../../values/scope.ts'
import { hashSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { keyStateOf } from './api-key.ts'
import { countKeyRequests, type KeyHolder, type KeyRequest } from './keys-store.ts'

export interface AuthenticatedKey extends KeyHolder {
  /** Whether the key waits for an owner of the workspace to confirm it after a restore (D96a). It gives no access. */
  readonly isHeld: boolean
  /**
   * The state of the key's rate limit (D32). A request without the required scope, or with a held key, is not counted,
   * so this limit never rejects it.
   */
  readonly rate: RateState
}

type CountedHolder = (KeyHolder & { readonly rate: RateState | null }) | null

/**
 * Requests of one bucket that arrive together are counted by one statement. A statement counts each key only once, so
 * two requests of one key need two statements.
 */
const COUNT_REQUESTS: Readonly<Record<Bucket, GatheredQuery<KeyRequest, CountedHolder>>> = {
  default: gatherCounts('default'),
  payments: gatherCounts('payments'),
}

function gatherCounts(bucket: Bucket): GatheredQuery<KeyRequest, CountedHolder> {
  return gathered({
    keyOf: ({ secretHash }) => secretHash.toString('latin1'),
    queryOf: (requests) => countKeyRequests(bucket, requests),
  })
}

/**
 * Finds out who sent a request, whether the key has the required scope, and whether the request is within the key's
 * rate limit. Takes one round trip to the database, and a second one only if the request was not counted.
 *
 * Returns a held key too, with `isHeld`; it gives no access. Returns null if the key is malformed, unknown, revoked or past its grace period.
 */
export async function authenticateKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { credential, bucket, requiredScope }: { credential: string; bucket: Bucket; requiredScope: Scope | null },
): Promise<AuthenticatedKey | null> {
  const secret = parseApiKeySecret(credential)
  if (secret === null) return null
  const now = ctx.clock.now()
  const secretHash = hashSecret(secret)
  const found = await ctx.db.gather(COUNT_REQUESTS[bucket], { secretHash, requiredScope, now })
  if (found === null) return null
  const state = keyStateOf(found.key, now)
  if (state === 'revoked' || state === 'expired') return null
  const isHeld = state === 'held'
  const rate = found.rate ?? (await ctx.db.read(findWindow(secretHash, bucket, now, !found.hasScope || isHeld)))
  return { ...found, isHeld, rate }
}
