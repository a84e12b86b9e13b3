import { Link } from 'react-router'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { TimeText } from '../../components/time-text.tsx'
import { formatAmount } from '../../format/amount.ts'
import { GrantBadge } from '../grants/grant-badge.tsx'
import { SpentMeter } from '../grants/spent-meter.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/**
 * One grant of an agent, with its wallet, terms and what remains of the 24-hour limit. The whole card links to the
 * grant.
 */
export function LimitCard({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  const { state, expires_at, recipient_allowlist: list } = grant
  const isActive = state === 'active'
  return (
    <li className="relative grid content-start gap-4 rounded-xl border border-line bg-surface p-5 hover:border-edge">
      <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <Link
          to={to('grants', grant.id)}
          className="font-bold after:absolute after:inset-0 after:rounded-xl focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent"
        >
          <span className="sr-only">Grant on </span>
          <bdi>{grant.wallet_name}</bdi>
        </Link>
        <GrantBadge state={state} />
      </p>
      {isActive && <SpentMeter grant={grant} />}
      <dl className="flex flex-wrap gap-x-8 gap-y-2 text-[0.9375rem]">
        <Term name="Per-payment limit">{formatAmount(grant.max_per_tx_usdc)} USDC</Term>
        {!isActive && <Term name="24-hour limit">{formatAmount(grant.daily_cap_usdc)} USDC</Term>}
        <Term name="Recipients">
          {list.length === 0 ? 'any recipient' : list.length === 1 ? '1 address' : `${list.length} addresses`}
        </Term>
        <Term name="End date">{expires_at === null ? 'none' : <TimeText at={expires_at} isExact />}</Term>
      </dl>
    </li>
  )
}

function Term({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </div>
  )
}
