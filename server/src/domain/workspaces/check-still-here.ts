import type { Context } from '../context.ts'
import { workspaceMoving } from '../moves/check-moved.ts'
import { findWorkspaceById } from './workspaces-store.ts'

/**
 * Throws 503 `workspace_moving` if the workspace has left this cell (D95a). A reader of many pages calls this after the
 * last page, because pages that it read after the rows had left are empty.
 */
export async function checkStillHere(ctx: Pick<Context, 'db'>, workspaceId: string): Promise<void> {
  if ((await ctx.db.read(findWorkspaceById(workspaceId))) === null) throw workspaceMoving()
}
