import { gathered } from '../../db/gathered-query.ts'
import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Agent, SpendableGrant } from './agent.ts'
import {
  findAgents,
  listAgentRows,
  listSpendableGrants,
  listSpendablePage,
  SPENDABLE_PAGE_MAX,
} from './agents-store.ts'

/** Reads are independent of each other, so they have no keys. */
const FIND_AGENTS = gathered({ keyOf: () => null, queryOf: findAgents })
const LIST_SPENDABLE = gathered({ keyOf: () => null, queryOf: listSpendableGrants })

/**
 * Returns an agent of the workspace and mode, or throws 404 `agent_not_found`. An invalid id is rejected without a
 * query.
 */
export async function getAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<Agent> {
  const agentId = parseAgentId(id)
  const now = ctx.clock.now()
  const agent = agentId === null ? null : await ctx.db.gather(FIND_AGENTS, { workspaceId, mode, id: agentId, now })
  if (agent === null) throw problem('agent_not_found')
  return agent
}

/**
 * Lists all agents of the workspace and mode, oldest first, in the same order on every call. The plan limits their
 * number.
 */
export async function listAgents(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<Agent[]> {
  return await ctx.db.readSlow(listAgentRows(workspaceId, mode, ctx.clock.now()), workspaceId)
}

/**
 * Lists the grants of the workspace and mode under which the agent can currently spend. If `agentId` is null, lists the
 * grants of all agents, or returns null if there are more than a few hundred, so that no request waits for the long
 * list of another workspace. `walkSpendable` lists any number of grants.
 */
export async function listSpendable(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, agentId }: { workspaceId: string; mode: Mode; agentId: string | null },
): Promise<SpendableGrant[] | null> {
  return await ctx.db.gather(LIST_SPENDABLE, { workspaceId, mode, agentId, now: ctx.clock.now() })
}

/**
 * Lists the grants of the workspace and mode under which any agent can currently spend, in pages. Each page is read
 * when the caller asks for it. A grant that changes meanwhile may or may not be listed.
 */
export async function* walkSpendable(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): AsyncGenerator<readonly SpendableGrant[], void, undefined> {
  const now = ctx.clock.now()
  let last: SpendableGrant | undefined
  do {
    const page = await ctx.db.readSlow(listSpendablePage({ workspaceId, mode, now }, last ?? null), workspaceId)
    yield page
    last = page.length < SPENDABLE_PAGE_MAX ? undefined : page.at(-1)
  } while (last !== undefined)
}
