import { findCredentials } from '../../domain/reports/timeline/find-credentials.ts'
import { getRefusal } from '../../domain/payments/refusals/get-refusal.ts'
import { listRefusals } from '../../domain/payments/refusals/list-refusals.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatRefusal } from '../format-payment.ts'
import { parseAgent, parseBefore } from '../parse-payment-filter.ts'
import { RefusalsQuery } from '../schemas-payments.ts'
import { ModeQuery, SlugIdParams, SlugParams } from '../schemas.ts'

const PAGE_REFUSALS = 50

/** What was asked for and refused in the last 30 days, the newest first. */
export function addRefusalRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/refusals',
    { schema: { params: SlugParams, querystring: RefusalsQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode, agent, before } = request.query
      const { items, next } = await listRefusals(ctx, {
        accountId: account.id,
        mode,
        agentId: parseAgent(agent),
        before: parseBefore('refusal', before),
        limit: PAGE_REFUSALS,
      })
      const credentials = await findCredentials(ctx, { accountId: account.id, asked: items })
      return { refusals: items.map((refusal) => formatRefusal(refusal, credentials)), next }
    },
  )

  http.get(
    '/console/workspaces/:slug/refusals/:id',
    { schema: { params: SlugIdParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const refusal = await getRefusal(ctx, {
        accountId: account.id,
        mode: request.query.mode,
        id: request.params.id,
      })
      return {
        refusal: formatRefusal(refusal, await findCredentials(ctx, { accountId: account.id, asked: [refusal] })),
      }
    },
  )
}
