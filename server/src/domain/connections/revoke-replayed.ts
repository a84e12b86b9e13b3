import type { Transaction } from '../../db/transaction.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { markRevoked, type Family } from './connections-store.ts'

/**
 * Revokes the family of a code or refresh token that came a second time, under the family's lock: somebody holds a copy
 * (RFC 9700, section 4.14.2).
 */
export async function revokeReplayed(
  transaction: Transaction,
  {
    family,
    clientId,
    cause,
    now,
  }: { family: Family; clientId: string; cause: 'code_replay' | 'refresh_reuse'; now: Date },
): Promise<void> {
  await transaction.commit([
    markRevoked(family, cause, now),
    insertAuditEntry({
      logId: family.accountId,
      createdAt: now,
      actor: { kind: 'client', id: clientId },
      action: cause === 'code_replay' ? 'connection.code_replayed' : 'connection.refresh_token_reused',
      subject: family.id,
    }),
  ])
}
