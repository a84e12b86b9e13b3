import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { markJoined } from '../passkeys/passkeys-store.ts'

/**
 * Records that a user joins a workspace, and returns the queries still to be run. The caller holds the user's lock.
 *
 * When a user joins for the first time, the log gets the entry of their sign-up: when they signed up, and which
 * passkeys they have. It is not written earlier, because anybody can sign up and the log is kept for ever (decision
 * 0032).
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
