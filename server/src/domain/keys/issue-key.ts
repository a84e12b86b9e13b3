import { openWindows } from '../../limiter/limiter-store.ts'
import { createApiKeySecret, type ApiKeySecret } from '../../values/api-key.ts'
import { hashSecret } from '../../values/secret.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { DEFAULT_KEY_NAME, type ApiKey } from './api-key.ts'
import { checkKeyLimit } from './check-key-limit.ts'
import { countUsableKeys, insertKey } from './keys-store.ts'

export interface IssuedKey {
  readonly key: ApiKey
  /** Shown once; it cannot be read again. */
  readonly secret: ApiKeySecret
}

/**
 * Issues an API key for an (account, mode), with a new rate budget.
 *
 * Errors: 403 `verification_required`, in test mode as well (D59); 409 `key_limit_reached` (exact even if keys are
 * issued concurrently).
 */
export async function issueKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    accountId,
    mode,
    name = DEFAULT_KEY_NAME,
    actor,
  }: { accountId: string; mode: Mode; name?: string; actor: ProvenActor },
): Promise<IssuedKey> {
  requireRecentProof(actor, ctx.clock.now())
  return await ctx.db.transaction(async (transaction) => {
    const [, usable] = await transaction.batch([
      lockAccount(accountId),
      countUsableKeys(accountId, mode, ctx.clock.now()),
    ])
    checkKeyLimit(actor, usable)
    const createdAt = ctx.clock.now()
    const issued = makeKey({ accountId, mode, name, actor, createdAt })
    const entry = { logId: accountId, createdAt, actor, action: 'key.issued', details: { mode, name } } as const
    await transaction.commit([
      insertKey(issued.key),
      openWindows(issued.key.secretHash),
      insertAuditEntry({ ...entry, subject: issued.key.id }),
    ])
    return issued
  })
}

export function makeKey({
  accountId,
  mode,
  name,
  actor,
  createdAt,
}: Pick<ApiKey, 'accountId' | 'mode' | 'name' | 'createdAt'> & { readonly actor: Actor }): IssuedKey {
  const secret = createApiKeySecret(mode)
  const secretHash = hashSecret(secret)
  const key = {
    id: createId('key', createdAt),
    accountId,
    mode,
    name,
    secretHash,
    createdAt,
    createdBy: actor.kind === 'user' ? actor.id : null,
    graceUntil: null,
    revokedAt: null,
  }
  return { key, secret }
}
