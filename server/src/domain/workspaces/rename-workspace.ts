import { checkName } from '../../values/name.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { lockWorkspace, updateWorkspaceName } from './workspaces-store.ts'

/**
 * Gives a workspace another name. Its slug stays the same, because links and programs use it. Does nothing if the
 * workspace has this name already. Returns the name as it is stored.
 *
 * Errors: 400 for a name that is not allowed.
 */
export async function renameWorkspace(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, name: text, actor }: { workspaceId: string; name: string; actor: Actor },
): Promise<string> {
  const name = checkName(text)
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(lockWorkspace(workspaceId))
    if (before === null || before.name === name) return
    const details = { name, before: before.name }
    const entry = { logId: workspaceId, createdAt, actor, action: 'workspace.renamed', details } as const
    await transaction.commit([
      updateWorkspaceName(workspaceId, name),
      insertAuditEntry({ ...entry, subject: workspaceId }),
    ])
  })
  return name
}
