import { PLAN_NAMES, PLANS, type Plan } from '@bursar/server/src/domain/plans/plan.ts'
import { DataTable } from '../../components/data-table.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { formatCount } from '../../format/format-count.ts'

export const PLAN_TITLES: Readonly<Record<Plan, string>> = { developer: 'Developer', pro: 'Pro', scale: 'Scale' }

export function PlanTable({ current }: { readonly current: Plan }) {
  return (
    <DataTable
      caption="Plans"
      columns={[
        {
          title: 'Plan',
          render: (plan) => (
            <span className="inline-flex flex-wrap items-center gap-x-2.5">
              <strong>{PLAN_TITLES[plan]}</strong>
              {plan === current && <StatusBadge tone="success">Current</StatusBadge>}
            </span>
          ),
        },
        {
          title: 'Live payments per month',
          isNumber: true,
          render: (plan) => <Limit count={PLANS[plan].monthlyAllowance} what="payments" />,
        },
        {
          title: 'Agents per mode',
          isNumber: true,
          render: (plan) => <Limit count={PLANS[plan].agentsMax} what="agents" />,
        },
        {
          title: 'Wallets per mode',
          isNumber: true,
          render: (plan) => <Limit count={PLANS[plan].walletsMax} what="wallets" />,
        },
      ]}
      items={PLAN_NAMES}
      keyOf={(plan) => plan}
    />
  )
}

/** On phones the table has no headings, so each number says what it counts. */
function Limit({ count, what }: { readonly count: number | null; readonly what: string }) {
  return (
    <span className="tabular-nums">
      {count === null ? 'No limit' : formatCount(count)}
      <span className="text-sm text-muted md:hidden"> {count === null ? `on ${what}` : what}</span>
    </span>
  )
}
