import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { findAgent, markDeleted } from './agents-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { revokeByAgent } from '../connections/connections-store.ts'
import type { Context } from '../context.ts'
import { describeKey } from '../keys/api-key.ts'
import { revokeKeysOfAgent } from '../keys/keys-store.ts'
import { listLiveGrants } from '../grants/grants-store.ts'

/** The error lists at most this many grants, as the reasons why the agent cannot be deleted. */
const GRANTS_NAMED_MAX = 50

/**
 * Deletes an agent, ends its OAuth connections, and revokes the API keys that are bound to it (D11). Holds the lock on
 * the workspace's row meanwhile. So a grant that is created at the same time either prevents the deletion, or finds that
 * the agent does not exist. A consent or a key that is created at the same time is either ended with the agent, or
 * finds that the agent does not exist. The agent's payments are kept. An agent with the same id can be created again;
 * the revoked keys stay revoked.
 *
 * Errors: 404 `agent_not_found`; 409 `has_active_grants`, with the grants in its details.
 */
export async function deleteAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, id, actor }: { workspaceId: string; mode: Mode; id: string; actor: Actor },
): Promise<void> {
  const agentId = parseAgentId(id)
  if (agentId === null) throw problem('agent_not_found')
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const [, agent, live] = await transaction.batch([
      lockWorkspace(workspaceId),
      findAgent(workspaceId, mode, agentId, createdAt),
      listLiveGrants(workspaceId, mode, { agentId, limit: GRANTS_NAMED_MAX }),
    ])
    if (agent === null) throw problem('agent_not_found')
    if (live.length > 0) {
      const grants = live.map((grant) => ({ id: grant.id, wallet: grant.walletAddress, status: grant.status }))
      throw problem('has_active_grants', { details: { grants } })
    }
    const [, ended, keys] = await transaction.batch([
      markDeleted(workspaceId, mode, agentId, createdAt),
      revokeByAgent({ workspaceId, mode, agentId }, createdAt),
      revokeKeysOfAgent({ workspaceId, mode, agentId }, createdAt),
    ])
    const entry = { logId: workspaceId, createdAt, actor } as const
    await transaction.commit([
      insertAuditEntry({ ...entry, action: 'agent.deleted', subject: agentId, details: { mode } }),
      ...ended.map((subject) => insertAuditEntry({ ...entry, action: 'connection.revoked', subject })),
      ...keys.map((key) =>
        insertAuditEntry({ ...entry, action: 'key.revoked', subject: key.id, details: describeKey(key) }),
      ),
    ])
  })
}
