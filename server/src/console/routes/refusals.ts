import { findCredentials } from '../../domain/reports/timeline/find-credentials.ts'
import { getRefusal, listRefusals } from '../../domain/refusals/queries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { REFUSAL_ROUTES } from '../contract/refusals.ts'
import { currentMembership } from '../current-membership.ts'
import { formatListedRefusal, formatRefusal } from '../format-payment.ts'
import { parseNext, parseSharedFilter } from '../parse-payment-filter.ts'

const PAGE_REFUSALS = 50

/** Adds the endpoints for the requests of the last 30 days that a limit rejected: the list, and one of them. */
export function addRefusalRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...REFUSAL_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, reason, group, before } = request.query
      const { items, next } = await listRefusals(ctx, {
        workspaceId: workspace.id,
        mode,
        filter: { ...parseSharedFilter(request.query), code: reason },
        isGrouped: group !== 'none',
        before: parseNext('refusal', before),
        limit: PAGE_REFUSALS,
      })
      const credentials = await findCredentials(ctx, { workspaceId: workspace.id, requests: items })
      return { refusals: items.map((refusal) => formatListedRefusal(refusal, credentials)), next }
    },
  })

  http.route({
    ...REFUSAL_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const refusal = await getRefusal(ctx, {
        workspaceId: workspace.id,
        mode: request.query.mode,
        id: request.params.id,
      })
      return {
        refusal: formatRefusal(refusal, await findCredentials(ctx, { workspaceId: workspace.id, requests: [refusal] })),
      }
    },
  })
}
