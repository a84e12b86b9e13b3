import type { Transaction } from '../../db/transaction.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { markConnectionRevoked, type TokenConnection } from './connections-store.ts'

/**
 * Revokes a connection whose code or refresh token was used a second time, which means that somebody else has a copy of
 * it (RFC 9700, section 4.14.2). The caller must have locked the connection.
 */
export async function revokeReplayed(
  transaction: Transaction,
  {
    connection,
    clientId,
    cause,
    now,
  }: { connection: TokenConnection; clientId: string; cause: 'code_replay' | 'refresh_reuse'; now: Date },
): Promise<void> {
  await transaction.commit([
    markConnectionRevoked(connection, cause, now),
    insertAuditEntry({
      logId: connection.workspaceId,
      createdAt: now,
      actor: { kind: 'client', id: clientId },
      action: cause === 'code_replay' ? 'connection.code_replayed' : 'connection.refresh_token_reused',
      subject: connection.id,
    }),
  ])
}
