import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import { windowStart } from '../../grants/spent-window.ts'
import type { Context } from '../../context.ts'
import { addPurchases } from '../../purchases/add-purchases.ts'
import { countUndelivered } from '../../purchases/purchase-sums-store.ts'
import { listNewestPayments } from '../listing/listing-store.ts'
import {
  AGENTS_SHOWN_MAX,
  barsOf,
  CAPS_SHOWN_MAX,
  PAYMENTS_SHOWN_MAX,
  UNDELIVERED_READ_MAX,
  UNDELIVERED_SHOWN_MS,
  type AgentSpend,
  type Bars,
  type Overview,
  type Range,
} from './overview.ts'
import { countRefusals, findSteps, listFullestCaps, sumSpend, type SpendRow } from './overview-store.ts'

/**
 * Returns what each agent spent in a time range, bar by bar; what owners withdrew in it; how many requests of agents
 * ended with each result; how much of each daily cap is used now; the latest payments; which steps of the setup are
 * done; and how many purchases were paid and not delivered. Needs one round trip to the database, and a second one if
 * one of the latest payments is a purchase. The sums are exact to the micro-USDC: for hours that are summed, their
 * sums are read. All other payments are read one by one.
 */
export async function getOverview(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, range }: { workspaceId: string; mode: Mode; range: Range },
): Promise<Overview> {
  const now = ctx.clock.now()
  const bars = barsOf(range, now)
  const [from, below] = [bars.starts[0] ?? bars.end, bars.end]
  const boundaries = (kind: 'payment' | 'refusal') => [idBoundary(kind, from), idBoundary(kind, below)] as const
  const [firstPayment, belowPayments] = boundaries('payment')
  const start = windowStart(now)
  const since = new Date(now.getTime() - UNDELIVERED_SHOWN_MS)
  const undelivered = { from: idBoundary('payment', since), rowsMax: UNDELIVERED_READ_MAX, now }
  const [all, refused, caps, payments, steps, count] = await ctx.db.readSlow(
    [
      sumSpend({
        workspaceId,
        mode,
        from: firstPayment,
        below: belowPayments,
        barStarts: bars.starts,
        end: bars.end,
        agentsMax: AGENTS_SHOWN_MAX,
      }),
      countRefusals(workspaceId, mode, ...boundaries('refusal')),
      listFullestCaps({
        workspaceId,
        mode,
        now,
        windowStart: start,
        limit: CAPS_SHOWN_MAX,
      }),
      listNewestPayments(workspaceId, mode, PAYMENTS_SHOWN_MAX),
      findSteps(workspaceId, mode),
      countUndelivered({ workspaceId, mode }, undelivered),
    ],
    workspaceId,
  )
  const withdrawals = all.filter(({ isWithdrawal }) => isWithdrawal)
  const rows = all.filter(({ isWithdrawal }) => !isWithdrawal)
  const sum = (count: (row: SpendRow) => number): number => rows.reduce((total, row) => total + count(row), 0)
  const spend = toSpend(rows, bars)
  return {
    range,
    bars,
    spentMicro: spend.reduce((total, { totalMicro }) => total + totalMicro, 0n),
    withdrawnMicro: withdrawals.reduce((total, { spentMicro }) => total + spentMicro, 0n),
    spend,
    counts: {
      confirmed: sum(({ confirmed }) => confirmed),
      pending: sum(({ pending }) => pending),
      failed: sum(({ failed }) => failed),
      refused,
    },
    caps,
    payments: await addPurchases(ctx, { workspaceId, payments }),
    steps,
    undelivered: { count, since },
  }
}

/**
 * Sums up each agent's bars and sorts the agents by what they spent, highest first. Agents that spent nothing are left
 * out. The group of all other agents comes last.
 */
function toSpend(rows: readonly SpendRow[], { starts }: Bars): AgentSpend[] {
  const agents = new Map<string | null, bigint[]>()
  for (const { agentId, bar, spentMicro } of rows) {
    const barsMicro = agents.get(agentId) ?? starts.map(() => 0n)
    barsMicro[bar] = spentMicro
    agents.set(agentId, barsMicro)
  }
  return [...agents]
    .map(([agentId, barsMicro]) => ({ agentId, barsMicro, totalMicro: barsMicro.reduce((sum, bar) => sum + bar, 0n) }))
    .filter(({ totalMicro }) => totalMicro > 0n)
    .toSorted(bySpend)
}

function bySpend(left: AgentSpend, right: AgentSpend): number {
  if (left.agentId === null || right.agentId === null) return left.agentId === null ? 1 : -1
  if (left.totalMicro !== right.totalMicro) return left.totalMicro > right.totalMicro ? -1 : 1
  return left.agentId < right.agentId ? -1 : 1
}
