import { remainingMicro } from '../domain/grants/decide-limits.ts'
import type { MetCondition } from '../domain/reports/conditions/conditions.ts'
import type { CapUse, WalletFunds } from '../domain/reports/funds/funds.ts'
import type { Spending } from '../domain/reports/spending/spending.ts'
import { formatAmount } from '../values/money.ts'
import type {
  MetCondition as MetConditionView,
  Overview as OverviewView,
  Spending as SpendingView,
  WalletFunds as FundsView,
} from './contract/overview.ts'

/** Formats a condition that holds. */
export function formatMetCondition({ items, ...condition }: MetCondition): MetConditionView {
  return { ...condition, items: items.map((item) => ({ ...item, at: item.at?.toISOString() ?? null })) }
}

/** Formats what a wallet holds. */
export function formatFunds(wallet: WalletFunds): FundsView {
  return {
    address: wallet.address,
    name: wallet.name,
    balance_usdc: formatOrNull(wallet.balanceMicro),
    read_at: wallet.readAt?.toISOString() ?? null,
    available_usdc: formatOrNull(wallet.availableMicro),
    limits_left_usdc: formatAmount(wallet.limitsLeftMicro),
    can_spend_usdc: formatOrNull(wallet.canSpendMicro),
  }
}

/** Formats how much of a grant's limit is used. */
export function formatCap(cap: CapUse): OverviewView['caps'][number] {
  return {
    grant_id: cap.id,
    agent_id: cap.agentId,
    wallet: cap.wallet,
    wallet_name: cap.walletName,
    state: cap.state,
    daily_cap_usdc: formatAmount(cap.dailyCapMicro),
    spent_24h_usdc: formatAmount(cap.spent24hMicro),
    remaining_24h_usdc: formatAmount(remainingMicro(cap.dailyCapMicro, cap.spent24hMicro)),
  }
}

/** Formats what was spent in a period. */
export function formatSpending(spending: Spending, name: SpendingView['period']): SpendingView {
  const { period, by, counts } = spending
  return {
    period: name,
    zone: period.zone,
    days: period.days,
    start: period.start.toISOString(),
    end: period.end.toISOString(),
    previous_days: period.previous.days,
    is_too_large: spending.isTooLarge,
    bars_at: period.bars.map((bar) => bar.toISOString()),
    spent_usdc: formatAmount(spending.spentMicro),
    pending_usdc: formatAmount(spending.pendingMicro),
    previous_usdc: formatAmount(spending.previousMicro),
    withdrawn_usdc: formatAmount(spending.withdrawnMicro),
    agents: spending.agents.map(({ agentId, color, totalMicro, previousMicro, barsMicro }) => ({
      agent_id: agentId,
      color,
      total_usdc: formatAmount(totalMicro),
      previous_usdc: formatAmount(previousMicro),
      bars_usdc: barsMicro.map(formatAmount),
    })),
    by,
    rows: spending.rows.map((row) => ({
      name: row.name,
      label: row.label,
      is_claimed: row.isClaimed,
      spent_usdc: formatAmount(row.spentMicro),
      previous_usdc: formatAmount(row.previousMicro),
      payments: row.payments,
      names: row.names,
    })),
    counts,
  }
}

function formatOrNull(micro: bigint | null): string | null {
  return micro === null ? null : formatAmount(micro)
}
