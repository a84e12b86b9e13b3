import { openWindows } from '../../limiter/limiter-store.ts'
import { createApiKeySecret, lastFourOf, type ApiKeySecret } from '../../values/api-key.ts'
import type { AgentId } from '../../values/agent-id.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { problem, type Problem } from '../../values/problem.ts'
import type { Scope } from '../../values/scope.ts'
import { hashSecret, type Cell } from '../../values/secret.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { DEFAULT_KEY_NAME, describeKey, type ApiKey } from './api-key.ts'
import { checkKeyLimit } from './check-key-limit.ts'
import { checkMaker } from './check-maker.ts'
import { countUsableKeys, hasAgent, insertKey, mayMakeKeys } from './keys-store.ts'

export interface IssuedKey {
  readonly key: ApiKey
  /** Shown once; it cannot be read again. */
  readonly secret: ApiKeySecret
}

/**
 * Creates an API key for a workspace and mode. The key has its own rate limit.
 *
 * `agentId` binds the key to this agent, and `scopes` limits what the key may do (D56). Null means no restriction. The
 * workspace's row is locked meanwhile, as it is while an agent is deleted. So a key is never bound to a deleted agent.
 *
 * Errors: 403 `verification_required` without a recent proof of the user's presence, in test mode as well (D59), and
 * `role_insufficient` if the user is not an owner or admin now; 400 if `scopes` is empty; 404 `agent_not_found`; 409
 * `key_limit_reached` (the limit is exact even if keys are created concurrently).
 */
export async function issueKey(
  ctx: Pick<Context, 'db' | 'clock' | 'cell'>,
  {
    workspaceId,
    mode,
    name = DEFAULT_KEY_NAME,
    agentId = null,
    scopes = null,
    actor,
  }: {
    workspaceId: string
    mode: Mode
    name?: string
    agentId?: AgentId | null
    scopes?: readonly Scope[] | null
    actor: ProvenActor
  },
): Promise<IssuedKey> {
  requireRecentProof(actor, ctx.clock.now())
  if (scopes?.length === 0) throw noScope()
  return await ctx.db.transaction(async (transaction) => {
    const [, mayMake, isAgentFound, usable] = await transaction.batch([
      lockWorkspace(workspaceId),
      mayMakeKeys({ workspaceId, userId: actor.id ?? '' }),
      hasAgent(workspaceId, mode, agentId),
      countUsableKeys(workspaceId, mode, ctx.clock.now()),
    ])
    checkMaker(actor, mayMake)
    if (!isAgentFound) throw problem('agent_not_found')
    checkKeyLimit(actor, usable)
    const createdAt = ctx.clock.now()
    const issued = makeKey({ workspaceId, mode, name, agentId, scopes, actor, createdAt, cell: ctx.cell })
    const details = describeKey(issued.key)
    const entry = { logId: workspaceId, createdAt, actor, action: 'key.issued', details } as const
    await transaction.commit([
      insertKey(issued.key),
      openWindows(issued.key.secretHash),
      insertAuditEntry({ ...entry, subject: issued.key.id }),
    ])
    return issued
  })
}

export function makeKey({
  workspaceId,
  mode,
  name,
  agentId,
  scopes,
  actor,
  createdAt,
  cell,
}: Pick<ApiKey, 'workspaceId' | 'mode' | 'name' | 'agentId' | 'scopes' | 'createdAt'> & {
  readonly actor: Actor
  readonly cell: Cell | null
}): IssuedKey {
  const secret = createApiKeySecret(mode, cell)
  const secretHash = hashSecret(secret)
  const key = {
    id: createId('key', createdAt),
    workspaceId,
    mode,
    name,
    agentId,
    scopes,
    last4: lastFourOf(secret),
    secretHash,
    createdAt,
    createdBy: actor.kind === 'user' ? actor.id : null,
    graceUntil: null,
    revokedAt: null,
    heldAt: null,
    confirmedAt: null,
  }
  return { key, secret }
}

function noScope(): Problem {
  return invalidMember('scopes', 'must name at least one scope')
}
