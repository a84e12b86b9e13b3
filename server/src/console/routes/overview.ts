import type { Deposit } from '../../domain/deposits/deposit.ts'
import { formatDeposit } from '../../domain/deposits/format-deposit.ts'
import { listDeposits } from '../../domain/deposits/list-deposits.ts'
import { remainingMicro } from '../../domain/grants/decide-limits.ts'
import { formatHostSpend } from '../../domain/purchases/host-spend.ts'
import { getSpendByHost } from '../../domain/purchases/get-spend-by-host.ts'
import { getOverview } from '../../domain/reports/overview/get-overview.ts'
import type { CapUse, Overview } from '../../domain/reports/overview/overview.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { SharedReads } from '../../lib/shared-reads.ts'
import { formatAmount } from '../../values/money.ts'
import type { ConsoleContext } from '../console-context.ts'
import { OVERVIEW_ROUTES, type Overview as OverviewView } from '../contract/overview.ts'
import type { OutputOf } from '../contract/route.ts'
import { currentMembership } from '../current-membership.ts'
import { formatListedPayment } from '../format-payment.ts'

const DEPOSITS_SHOWN = 5

/**
 * Adds the endpoints for the overview: what a workspace's agents spent, in total and by host, how much of their caps is
 * left, and the latest payments and deposits.
 */
export function addOverviewRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  const reads = new SharedReads<ReturnType<typeof formatAll>>()
  const hostReads = new SharedReads<OutputOf<typeof OVERVIEW_ROUTES.hosts>>()

  http.route({
    ...OVERVIEW_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, range } = request.query
      const place = { workspaceId: workspace.id, mode }
      // After every change, all open pages of a workspace request the same overview, so they share one read.
      return await reads.read(`${workspace.id} ${mode} ${range}`, async () => {
        const [overview, deposits] = await Promise.all([
          getOverview(ctx, { ...place, range }),
          listDeposits(ctx, { ...place, wallet: null, before: null, limit: DEPOSITS_SHOWN }),
        ])
        return formatAll(overview, deposits)
      })
    },
  })

  http.route({
    ...OVERVIEW_ROUTES.hosts,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      return await hostReads.read(`${workspace.id} ${mode}`, async () => {
        const { since, hosts } = await getSpendByHost(ctx, { workspaceId: workspace.id, mode })
        return { since: since.toISOString(), hosts: hosts.map(formatHostSpend) }
      })
    },
  })
}

function formatAll(overview: Overview, deposits: readonly Deposit[]): { overview: OverviewView } {
  return { overview: { ...formatOverview(overview), deposits: deposits.map(formatDeposit) } }
}

function formatOverview({
  range,
  bars,
  spentMicro,
  withdrawnMicro,
  spend,
  counts,
  caps,
  payments,
  steps,
  undelivered,
}: Overview): Omit<OverviewView, 'deposits'> {
  return {
    range,
    bars_at: bars.starts.map((start) => start.toISOString()),
    bar_seconds: bars.barMs / 1_000,
    spent_usdc: formatAmount(spentMicro),
    withdrawn_usdc: formatAmount(withdrawnMicro),
    spend: spend.map(({ agentId, totalMicro, barsMicro }) => ({
      agent_id: agentId,
      total_usdc: formatAmount(totalMicro),
      bars_usdc: barsMicro.map(formatAmount),
    })),
    counts,
    caps: caps.map(formatCap),
    payments: payments.map(formatListedPayment),
    steps,
    undelivered: { count: undelivered.count, since: undelivered.since.toISOString() },
  }
}

function formatCap({
  grantId,
  agentId,
  wallet,
  walletName,
  state,
  dailyCapMicro,
  spent24hMicro,
}: CapUse): OverviewView['caps'][number] {
  return {
    grant_id: grantId,
    agent_id: agentId,
    wallet,
    wallet_name: walletName,
    state,
    daily_cap_usdc: formatAmount(dailyCapMicro),
    spent_24h_usdc: formatAmount(spent24hMicro),
    remaining_24h_usdc: formatAmount(remainingMicro(dailyCapMicro, spent24hMicro)),
  }
}
