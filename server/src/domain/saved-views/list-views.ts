import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { SAVED_VIEWS_MAX, type SavedView } from './saved-view.ts'
import { listViewRows } from './saved-views-store.ts'

/** Lists the saved views of a workspace and mode, ordered by name. */
export async function listViews(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<SavedView[]> {
  return await ctx.db.read(listViewRows(workspaceId, mode, SAVED_VIEWS_MAX))
}
