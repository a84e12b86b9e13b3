import { useQuery } from '@tanstack/react-query'
import type { PlanUse, Use } from '@bursar/server/src/console/contract/workspaces.ts'
import { planQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatBytes } from '../../format/format-bytes.ts'
import { formatCount } from '../../format/format-count.ts'
import { PLAN_TITLES, PlanTable } from './plan-table.tsx'
import { useWorkspace } from './use-workspace.ts'
import { Meter } from '../../components/meter.tsx'

export function PlanPage() {
  const { slug, name } = useWorkspace()
  const { data: use, error, refetch } = useQuery(planQuery(slug))
  return (
    <>
      <PageHeading
        title="Plan"
        breadcrumb={name}
        lead={use !== undefined && `This workspace is on the ${PLAN_TITLES[use.plan]} plan.`}
      />
      {use === undefined ? <QueryState error={error} onRetry={refetch} lines={6} /> : <PlanView use={use} />}
    </>
  )
}

function PlanView({ use }: { readonly use: PlanUse }) {
  const { used, limit, resets_at } = use.allowance
  return (
    <>
      <Section title="Live payments this month">
        <div className="grid gap-3 rounded-xl border border-line bg-surface p-5">
          <p className="flex flex-wrap items-baseline justify-between gap-x-4">
            <span className="text-2xl font-bold tabular-nums">
              {formatCount(used)}
              <span className="text-base font-normal text-muted">
                {limit === null ? ' payments, no limit' : ` of ${formatCount(limit)} payments`}
              </span>
            </span>
            <span className="text-muted">
              Resets on <TimeText at={resets_at} hasZone />
            </span>
          </p>
          {limit !== null && <UsageMeter label="Live payments this month" used={used} limit={limit} />}
          {limit !== null && used >= limit && (
            <p className="font-semibold text-danger">
              You have used all payments of this month. Live payments are rejected until the reset or until your plan
              changes. Test payments still work.
            </p>
          )}
          <p className="text-sm text-muted">
            A live payment counts as soon as it is created. It stops counting if the enclave rejects it or never sends
            it. Withdrawals, rejected requests and test payments don’t count.
          </p>
        </div>
      </Section>
      <Section title="Agents and wallets">
        <div className="grid gap-4 sm:grid-cols-2">
          <UseCard title="Agents, test" use={use.agents.test} />
          <UseCard title="Agents, live" use={use.agents.live} />
          <UseCard title="Wallets, test" use={use.wallets.test} />
          <UseCard title="Wallets, live" use={use.wallets.live} />
        </div>
      </Section>
      <Section
        title="Storage"
        lead="Each seller’s response is kept for 24 hours, so that a retry does not pay again. If there is no room for the largest response, purchases are rejected before they are paid. Of the responses of webhook receivers and the rejected requests, the oldest are deleted if there is no room."
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <UseCard title="Responses of sellers, test" use={use.responses.test} format={formatBytes} />
          <UseCard title="Responses of sellers, live" use={use.responses.live} format={formatBytes} />
          <UseCard title="Responses to webhooks, test" use={use.webhook_responses.test} format={formatBytes} />
          <UseCard title="Responses to webhooks, live" use={use.webhook_responses.live} format={formatBytes} />
          <UseCard title="Rejected requests, test" use={use.refusals.test} format={formatBytes} />
          <UseCard title="Rejected requests, live" use={use.refusals.live} format={formatBytes} />
        </div>
      </Section>
      <Section title="Plans" lead="To change the plan, ask the server operator. Changes apply immediately.">
        <PlanTable current={use.plan} />
      </Section>
    </>
  )
}

interface UseCardProps {
  readonly title: string
  readonly use: Use
  readonly format?: (amount: number) => string
}

function UseCard({ title, use: { used, limit }, format = formatCount }: UseCardProps) {
  return (
    <div className="grid content-start gap-2.5 rounded-xl border border-line bg-surface p-5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-semibold">{title}</span>
        <span className="text-muted tabular-nums">
          {limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`}
        </span>
      </p>
      {limit !== null && <UsageMeter label={title} used={used} limit={limit} />}
    </div>
  )
}

interface UsageMeterProps {
  /** What is counted. This is the accessible name of the bar. */
  readonly label: string
  readonly used: number
  readonly limit: number
}

/** How much of a limit is used. Any use above zero is visible. */
function UsageMeter({ label, used, limit }: UsageMeterProps) {
  const share = limit > 0 ? Math.min(1_000, Math.floor((used * 1_000) / limit)) : 1_000
  return <Meter label={label} text={`${used} of ${limit}`} permille={used > 0 ? Math.max(share, 1) : 0} />
}
