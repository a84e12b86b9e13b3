import { listWorkspaceTables } from '../../../server/src/db/moved-rows.ts'
import { withCell } from '../../../server/src/move-workspace/cells.ts'
import type { TestContext } from '../context/test-context.ts'
import { readRows } from './read-rows.ts'

/** The rows of each table that belong to a workspace, as text. Tables without such rows are left out. */
export type WorkspaceRows = Readonly<Record<string, readonly string[]>>

/** What a move adds to a workspace: its leaves in the log of the cell that it leaves. */
const CARRIED = ['carried_logs', 'carried_leaves']

/** Reads all rows of a workspace but the leaves that moves carried, with or without its audit log. */
export async function readWorkspaceRows(
  { context, config }: Pick<TestContext, 'context' | 'config'>,
  workspaceId: string,
  { withAudit = true }: { withAudit?: boolean } = {},
): Promise<WorkspaceRows> {
  const all = await withCell(config.database.url, listWorkspaceTables)
  const tables = all.filter(({ name }) => !CARRIED.includes(name))
  const found: Record<string, string[]> = {}
  for (const { name, key } of [...tables, ...(withAudit ? [{ name: 'audit_entries', key: 'log_id' }] : [])]) {
    const text = `select to_json(t)::text as row from ${name} t where ${key} = $1 order by 1`
    const rows = (await readRows(context.db, text, [workspaceId])).map(({ row }) => String(row))
    if (rows.length > 0) found[name] = rows
  }
  return found
}
