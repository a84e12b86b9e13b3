import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { markJoined } from '../passkeys/passkeys-store.ts'

/**
 * Records that a user joins a workspace. Returns queries that the caller must run in the same transaction. The caller
 * must have locked the user.
 *
 * When a user joins their first workspace, the audit log gets an entry for their sign-up. It contains the time of the
 * sign-up and the user's passkeys. It is not written earlier, because anybody can sign up and the log is kept forever
 * (decision 0032).
 */
export async function recordFirstWorkspace(
  transaction: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<Query<unknown>[]> {
  const newcomer = await transaction.run(markJoined(userId, now))
  if (newcomer === null) return []
  const details = { signed_up_at: newcomer.signedUpAt.toISOString(), passkeys: newcomer.passkeys }
  const actor = { kind: 'user', id: userId } as const
  return [insertAuditEntry({ logId: userId, createdAt: now, actor, action: 'user.signed_up', details })]
}
