import type { Page } from '../../db/bounded-scan.ts'
import { findCredentials } from '../../domain/reports/timeline/find-credentials.ts'
import { getRefusal, listRefusals } from '../../domain/refusals/queries.ts'
import type { PaymentRefusal } from '../../domain/refusals/refusal.ts'
import { checkStillHere } from '../../domain/workspaces/check-still-here.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { REFUSAL_ROUTES } from '../contract/refusals.ts'
import { csvHeaders, formatPeriod, openCsv } from '../csv.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { formatListedRefusal, formatRefusal } from '../format-payment.ts'
import { listNames } from '../list-names.ts'
import { parseTimeZoneOf } from '../parse-body.ts'
import { parseNext, parseSharedFilter } from '../parse-payment-filter.ts'
import { REFUSAL_COLUMNS, toRefusalRow } from '../refusals-csv.ts'

const PAGE_REFUSALS = 50
/** A workspace keeps at most 10,000 refusals (`REFUSALS_KEPT_MAX`), so an export has few pages. */
const EXPORT_PAGE_REFUSALS = 500

/**
 * Adds the endpoints for the requests of the last 30 days that a limit rejected: the list, its export, and one of them.
 */
export function addRefusalRoutes(http: HttpServer, { ctx, exports }: ConsoleContext): void {
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
    ...REFUSAL_ROUTES.export,
    // There is no HEAD route, because it would read as much as GET.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode, reason, time_zone } = request.query
      const place = { workspaceId: workspace.id, mode }
      const [zone, filter] = [parseTimeZoneOf(time_zone), { ...parseSharedFilter(request.query), code: reason }]
      const exporter = { session: getCurrentSession(request), workspaceId: workspace.id }
      const source = await exports.open(exporter, async () => {
        const names = await listNames(ctx, place)
        let before: string | null = null
        let isOver = false
        const next = async () => {
          if (isOver) return null
          const page: Page<PaymentRefusal> = await listRefusals(ctx, {
            ...{ ...place, filter, before, limit: EXPORT_PAGE_REFUSALS },
          })
          before = page.next
          isOver = before === null
          const credentials = await findCredentials(ctx, { workspaceId: workspace.id, requests: page.items })
          return page.items.map((refusal) => toRefusalRow(formatRefusal(refusal, credentials), { zone, ...names }))
        }
        return await openCsv({
          columns: REFUSAL_COLUMNS,
          next,
          checkEnd: () => checkStillHere(ctx, workspace.id),
        })
      })
      const period = formatPeriod(zone, { from: filter.from, to: filter.to, now: ctx.clock.now() })
      return reply.headers(csvHeaders(workspace.slug, mode, 'rejected-requests', ...period)).send(source)
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
