import type { Plan } from '@bursar/server/src/console/contract/workspaces.ts'
import { DataTable } from '../../components/data-table.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { formatCount } from '../../format/format-count.ts'
import { PLAN_TITLES, PLANS } from './plans.ts'

export function PlanTable({ current }: { readonly current: Plan }) {
  return (
    <DataTable
      caption="Plans"
      columns={[
        {
          title: 'Plan',
          render: ({ plan }) => (
            <span className="inline-flex flex-wrap items-center gap-x-2.5">
              <strong>{PLAN_TITLES[plan]}</strong>
              {plan === current && <StatusBadge tone="success">Current</StatusBadge>}
            </span>
          ),
        },
        {
          title: 'Live payments per month',
          isNumber: true,
          render: ({ payments }) => <Limit count={payments} what="payments" />,
        },
        {
          title: 'Agents per mode',
          isNumber: true,
          render: ({ agents }) => <Limit count={agents} what="agents" />,
        },
        {
          title: 'Wallets per mode',
          isNumber: true,
          render: ({ wallets }) => <Limit count={wallets} what="wallets" />,
        },
      ]}
      items={PLANS}
      keyOf={({ plan }) => plan}
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
