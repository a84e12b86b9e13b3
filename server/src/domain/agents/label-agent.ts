import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { labelAgentRow } from './agents-store.ts'

/**
 * Gives an agent a label, or takes it away if `label` is null. The id of the agent stays the same. Does nothing if the
 * agent has this label already.
 *
 * Errors: 400 for a label that is not allowed; 404 `agent_not_found`.
 */
export async function labelAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  wanted: { workspaceId: string; mode: Mode; id: string; label: string | null; actor: Actor },
): Promise<void> {
  const { workspaceId, mode, actor } = wanted
  const label = wanted.label === null ? null : checkName(wanted.label, 'label')
  const id = parseAgentId(wanted.id)
  if (id === null) throw problem('agent_not_found')
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const known = await transaction.run(labelAgentRow({ workspaceId, mode, id }, label))
    if (known === null) throw problem('agent_not_found')
    if (known.before === label) return
    const details = { mode, label, before: known.before }
    const entry = { logId: workspaceId, createdAt, actor, action: 'agent.labeled', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: id })])
  })
}
