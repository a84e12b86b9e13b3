import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { SAVED_VIEWS_MAX, type SavedView } from './saved-view.ts'
import { listViewRows, saveViewRow } from './saved-views-store.ts'

/**
 * Saves a view under a name, or replaces the view with this name.
 *
 * Errors: 409 `view_limit_reached` if the limit of views is reached (exact even if views are saved concurrently).
 */
export async function saveView(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    workspaceId,
    mode,
    name,
    query,
    actor,
  }: { workspaceId: string; mode: Mode; name: string; query: string; actor: Actor },
): Promise<SavedView> {
  return await ctx.db.transaction(async (transaction) => {
    const [, views] = await transaction.batch([
      lockWorkspace(workspaceId),
      listViewRows(workspaceId, mode, SAVED_VIEWS_MAX),
    ])
    const known = views.find((view) => view.name === name)
    if (known === undefined && views.length >= SAVED_VIEWS_MAX) {
      throw problem('view_limit_reached', { details: { views_max: SAVED_VIEWS_MAX } })
    }
    if (known?.query === query) return known
    const now = ctx.clock.now()
    const view = { workspaceId, id: known?.id ?? createId('view', now), mode, name, query, createdAt: now }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'view.saved', details: { mode, name } } as const
    const [saved] = await transaction.commit([saveViewRow(view), insertAuditEntry({ ...entry, subject: view.id })])
    return saved
  })
}
