import type { Operator } from '../audit/audit-entry.ts'
import { insertAuditEntries } from '../audit/audit-store.ts'
import { changeAllRows } from '../change-all-rows.ts'
import type { Context } from '../context.ts'
import { holdKeysAfter } from './held-keys-store.ts'

/**
 * Holds the working API keys of all workspaces. From the next request on, on any server process, a held key gets 403
 * `key_held` until an owner of its workspace has confirmed it. For use after the database was restored from a backup,
 * which brings back keys that were revoked since (D96a).
 *
 * `restoredAt` names the restore. Keys that were created later are not held. If this function is called again with the
 * same time, keys that an owner has confirmed meanwhile stay confirmed. So it can be called again after a failure.
 */
export async function holdAllKeys(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor, restoredAt }: { actor: Operator; restoredAt: Date },
): Promise<{ keys: number; workspaces: number }> {
  const now = ctx.clock.now()
  const workspaces = new Set<string>()
  const keys = await changeAllRows(ctx, {
    change: (after, rowsMax) => holdKeysAfter(after, rowsMax, { restoredAt, now }),
    record(rows) {
      for (const { workspaceId } of rows) workspaces.add(workspaceId)
      const entries = rows.map(({ workspaceId, id, mode, name }) => {
        return {
          logId: workspaceId,
          createdAt: now,
          actor,
          action: 'key.held',
          subject: id,
          details: { mode, name },
        } as const
      })
      return [insertAuditEntries(entries)]
    },
  })
  return { keys, workspaces: workspaces.size }
}
