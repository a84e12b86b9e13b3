import { getPlanUse } from '../../domain/plans/get-plan-use.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Mode } from '../../values/mode.ts'
import { membershipOf, type Door } from '../door.ts'
import { SlugParams } from '../schemas.ts'

/** What a workspace has used of its plan. */
export function addPlanRoute(http: HttpServer, door: Door): void {
  http.get('/console/workspaces/:slug/plan', { schema: { params: SlugParams } }, async (request) => {
    const { account } = await membershipOf(door, request, 'viewer')
    const { plan } = account
    const { used, limits, resetsAt } = await getPlanUse(door.ctx, { accountId: account.id, plan })
    return {
      use: {
        plan,
        allowance: { used: used.allowance, limit: limits.monthlyAllowance, resets_at: resetsAt.toISOString() },
        agents: formatUse(used.agents, limits.agentsMax),
        wallets: formatUse(used.wallets, limits.walletsMax),
      },
    }
  })
}

function formatUse({ test, live }: Readonly<Record<Mode, number>>, limit: number | null) {
  return { test: { used: test, limit }, live: { used: live, limit } }
}
