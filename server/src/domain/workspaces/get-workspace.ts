import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Workspace } from './workspace.ts'
import { findWorkspaceBySlug } from './workspaces-store.ts'

/** Returns the workspace with this slug, or throws 404 `not_found`. */
export async function getWorkspace(ctx: Pick<Context, 'db'>, slug: string): Promise<Workspace> {
  const workspace = await ctx.db.read(findWorkspaceBySlug(slug))
  if (workspace === null) throw new Problem('not_found', 'There is no workspace with this slug.')
  return workspace
}
