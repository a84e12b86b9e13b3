import { formatDeposit } from '../../domain/deposits/format-deposit.ts'
import { listDeposits } from '../../domain/deposits/list-deposits.ts'
import type { Deposit } from '../../domain/deposits/deposit.ts'
import { checkConditions } from '../../domain/reports/conditions/conditions.ts'
import { listUnsigned } from '../../domain/reports/conditions/list-unsigned.ts'
import { getFunds } from '../../domain/reports/funds/get-funds.ts'
import type { WalletFunds } from '../../domain/reports/funds/funds.ts'
import { getOverview } from '../../domain/reports/overview/get-overview.ts'
import type { Overview } from '../../domain/reports/overview/overview.ts'
import { getSpending } from '../../domain/reports/spending/get-spending.ts'
import type { Spending } from '../../domain/reports/spending/spending.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { SharedReads } from '../../lib/shared-reads.ts'
import type { ConsoleContext } from '../console-context.ts'
import { OVERVIEW_ROUTES } from '../contract/overview.ts'
import { currentMembership } from '../current-membership.ts'
import { formatCap, formatMetCondition, formatFunds, formatSpending } from '../format-overview.ts'
import { formatListedPayment } from '../format-payment.ts'
import { parseAgent } from '../parse-payment-filter.ts'
import { parsePeriod } from '../parse-period.ts'

const DEPOSITS_SHOWN = 5

/**
 * Adds the endpoints for the overview: what needs attention, how much there is and can still be spent, and where it
 * goes. After every change, all open pages of a workspace request the same, so they share one read.
 */
export function addOverviewRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  const reads = new SharedReads<readonly [Overview, readonly Deposit[]]>()
  const spendingReads = new SharedReads<Spending>()
  const fundsReads = new SharedReads<WalletFunds[]>()

  http.route({
    ...OVERVIEW_ROUTES.get,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const place = { workspaceId: workspace.id, mode: request.query.mode }
      const [[overview, deposits], unsigned] = await Promise.all([
        reads.read(`${workspace.id} ${place.mode}`, async () => {
          const latest = listDeposits(ctx, { ...place, wallet: null, before: null, limit: DEPOSITS_SHOWN })
          return await Promise.all([getOverview(ctx, place), latest])
        }),
        // This depends on the reader.
        listUnsigned(ctx, { ...place, userId }),
      ])
      return {
        overview: {
          conditions: checkConditions({ ...overview.facts, unsigned }).map(formatMetCondition),
          wallets: overview.wallets.map(formatFunds),
          caps: overview.caps.map(formatCap),
          caps_count: overview.capsCount,
          payments: overview.payments.map(formatListedPayment),
          deposits: deposits.map(formatDeposit),
          steps: overview.steps,
        },
      }
    },
  })

  http.route({
    ...OVERVIEW_ROUTES.spending,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, by, ...query } = request.query
      const [period, agentId] = [parsePeriod(query), parseAgent(query.agent)]
      const key = JSON.stringify([workspace.id, mode, by, period, agentId])
      const spending = await spendingReads.read(key, () =>
        getSpending(ctx, { workspaceId: workspace.id, mode, period, by, agentId }),
      )
      return { spending: formatSpending(spending, query.period) }
    },
  })

  http.route({
    ...OVERVIEW_ROUTES.funds,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const place = { workspaceId: workspace.id, mode: request.query.mode }
      const wallets = await fundsReads.read(`${workspace.id} ${place.mode}`, () => getFunds(ctx, place))
      return { wallets: wallets.map(formatFunds) }
    },
  })

  http.route({
    ...OVERVIEW_ROUTES.waiting,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const unsigned = await listUnsigned(ctx, { workspaceId: workspace.id, mode: request.query.mode, userId })
      return { grants: unsigned.filter(({ isMine }) => isMine).length }
    },
  })
}
