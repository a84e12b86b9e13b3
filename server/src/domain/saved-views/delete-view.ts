import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { takeView } from './saved-views-store.ts'

/** Deletes a saved view. Errors: 404 `not_found`. */
export async function deleteView(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, id, actor }: { workspaceId: string; mode: Mode; id: string; actor: Actor },
): Promise<void> {
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const view = isId('view', id) ? await transaction.run(takeView(workspaceId, mode, id)) : null
    if (view === null) throw new Problem('not_found', 'There is no saved view with this id in this workspace and mode.')
    const details = { mode, name: view.name }
    const entry = { logId: workspaceId, createdAt, actor, action: 'view.deleted', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: id })])
  })
}
