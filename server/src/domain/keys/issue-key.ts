import { openWindows } from '../../limiter/store.ts'
import { createApiKeySecret, type ApiKeySecret } from '../../values/api-key.ts'
import { hashSecret } from '../../values/secret.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
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
  { accountId, mode, actor = OPERATOR }: { accountId: string; mode: Mode; actor?: Actor },
): Promise<IssuedKey> {
  const createdAt = ctx.clock.now()
  const issued = makeKey(accountId, mode, createdAt)
  const entry = { logId: accountId, createdAt, actor, action: 'key.issued', details: { mode } } as const
  await ctx.db.transaction((transaction) =>
    transaction.commit([
      insertKey(issued.key),
      openWindows(issued.key.secretHash),
      insertAuditEntry({ ...entry, subject: issued.key.id }),
    ]),
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
