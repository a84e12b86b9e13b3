import { openWindows } from '../../limiter/store.ts'
import { createApiKeySecret, hashSecret, type ApiKeySecret } from '../../values/api-key.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { ApiKey } from './api-key.ts'
import { insertKey } from './store.ts'

export interface IssuedKey {
  readonly key: ApiKey
  /** Shown once; it can't be had again. */
  readonly secret: ApiKeySecret
}

/** Issues an API key for one (account, mode), with a fresh rate budget. */
export async function issueKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<IssuedKey> {
  const issued = makeKey(accountId, mode, ctx.clock.now())
  await ctx.db.transaction((transaction) =>
    transaction.commit([insertKey(issued.key), openWindows(issued.key.secretHash)]),
  )
  return issued
}

export function makeKey(accountId: string, mode: Mode, createdAt: Date): IssuedKey {
  const secret = createApiKeySecret(mode)
  const secretHash = hashSecret(secret)
  const key = {
    id: createId('key', createdAt),
    accountId,
    mode,
    secretHash,
    createdAt,
    graceUntil: null,
    revokedAt: null,
  }
  return { key, secret }
}
