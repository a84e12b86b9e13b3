import type { Operator } from '../audit/audit-entry.ts'
import { insertAuditEntries } from '../audit/audit-store.ts'
import { changeAllRows } from '../change-all-rows.ts'
import type { Context } from '../context.ts'
import { revokeConnectionsAfter } from './connections-store.ts'
import { CLEAN_UP_ROWS_MAX } from './limits.ts'
import { deleteEndedRequests } from './requests-store.ts'

/** A time after which no authorization request expires. */
const END_OF_TIME = new Date('9999-01-01T00:00:00Z')

/**
 * Ends the connections of all workspaces with their codes and tokens, and all authorization requests. Each application
 * must ask for access again. For use after the database was restored from a backup, which brings back connections that
 * were revoked, and tokens that were used, since (D96a).
 *
 * The workspace's audit log names each connection that had not expired. Can be called again after a failure.
 */
export async function endAllConnections(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor }: { actor: Operator },
): Promise<{ connections: number; requests: number }> {
  const createdAt = ctx.clock.now()
  const entry = { createdAt, actor, action: 'connection.revoked', details: { because: 'restore' } } as const
  const connections = await changeAllRows(ctx, {
    change: (after, rowsMax) => revokeConnectionsAfter(after, rowsMax, createdAt),
    record(rows) {
      const alive = rows.filter(({ isAlive }) => isAlive)
      if (alive.length === 0) return []
      return [insertAuditEntries(alive.map(({ workspaceId, id }) => ({ ...entry, logId: workspaceId, subject: id })))]
    },
  })
  return { connections, requests: await endRequests(ctx) }
}

async function endRequests(ctx: Pick<Context, 'db'>): Promise<number> {
  let total = 0
  for (;;) {
    const ended = await ctx.db.write(deleteEndedRequests(END_OF_TIME, CLEAN_UP_ROWS_MAX))
    total += ended
    if (ended < CLEAN_UP_ROWS_MAX) return total
  }
}
