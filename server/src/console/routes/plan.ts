import { getPlanUse } from '../../domain/plans/get-plan-use.ts'
import { DROPPED_BYTES_MAX } from '../../domain/stored-bytes/stored-bytes.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Mode } from '../../values/mode.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WORKSPACE_ROUTES } from '../contract/workspaces.ts'
import { currentMembership } from '../current-membership.ts'

/** Adds the endpoint that returns how much of its plan a workspace has used. */
export function addPlanRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...WORKSPACE_ROUTES.getPlanUse,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { plan } = workspace
      const { used, limits, resetsAt } = await getPlanUse(ctx, { workspaceId: workspace.id, plan })
      return {
        use: {
          plan,
          allowance: { used: used.allowance, limit: limits.monthlyAllowance, resets_at: resetsAt.toISOString() },
          agents: formatUse(used.agents, limits.agentsMax),
          wallets: formatUse(used.wallets, limits.walletsMax),
          responses: formatUse(used.answerBytes, limits.answerBytesMax),
          webhook_responses: formatUse(used.responseBytes, DROPPED_BYTES_MAX.responses),
          refusals: formatUse(used.refusalBytes, DROPPED_BYTES_MAX.refusals),
        },
      }
    },
  })
}

function formatUse(
  { test, live }: Readonly<Record<Mode, number>>,
  limit: number | null | Readonly<Record<Mode, number>>,
) {
  const limits = typeof limit === 'object' && limit !== null ? limit : { test: limit, live: limit }
  return { test: { used: test, limit: limits.test }, live: { used: live, limit: limits.live } }
}
