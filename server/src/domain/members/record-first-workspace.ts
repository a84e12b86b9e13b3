import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { markJoined } from '../passkeys/passkeys-store.ts'

/**
 * Notes that a person joins a workspace, under the person's lock; returns what is still to be written. The first time that
 * is the entry of their sign-up. It was held back until now, since anybody may sign up and the audit log is kept for ever
 * (decision 0032), so it tells what could matter of the time in between: when they signed up, and which passkeys they have.
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
