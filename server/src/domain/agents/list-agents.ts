import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { Agent, SpendableGrant } from './agent.ts'
import { listAgentRows, listSpendableGrants } from './agents-store.ts'

/** Every agent of (account, mode), oldest first, stable across calls. The plan's cap bounds the list. */
export async function listAgents(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<Agent[]> {
  return await ctx.db.runSlow(listAgentRows(accountId, mode, ctx.clock.now()))
}

/** Every grant of (account, mode) that can be spent from now. */
export async function listSpendable(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<SpendableGrant[]> {
  return await ctx.db.runRelaxed(listSpendableGrants(accountId, mode, ctx.clock.now()))
}
