import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { HostSpend } from '@bursar/server/src/console/contract/overview.ts'
import { hostsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { fromMicro, toMicro } from '../../format/amount.ts'
import { formatCount } from '../../format/format-count.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What agents spent on each website in the last 30 days. Not shown if they bought nothing. */
export function HostsSection() {
  const { slug, mode, to } = useWorkspace()
  const { data, error, refetch } = useQuery(hostsQuery(slug, mode))
  if (data === undefined) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const { since, hosts } = data
  if (hosts.length === 0) return null
  const pathOf = (filter: Readonly<Record<string, string>>) =>
    `${to('payments')}?${new URLSearchParams({ kind: 'x402', from: since, ...filter })}`
  return (
    <Section
      title="Purchases by website, last 30 days"
      actions={<TextLink to={pathOf({})}>Show all purchases</TextLink>}
    >
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
        {hosts.map((spend) => (
          <li key={`${spend.host ?? ''} ${spend.is_claimed}`}>
            <Link
              to={pathOf(spend.host === null ? {} : { q: spend.host })}
              className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5 px-5 py-3 hover:bg-sunken focus-visible:-outline-offset-2"
            >
              <HostSpendText spend={spend} />
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Like the other figures of the page, the sum includes pending payments, because their money is reserved. */
function HostSpendText({ spend }: { readonly spend: HostSpend }) {
  const { host, hosts, is_claimed, purchases, confirmed_usdc, pending_usdc } = spend
  const pending = toMicro(pending_usdc)
  return (
    <>
      <span className="min-w-0">
        <bdi className="font-semibold wrap-anywhere">
          {host ?? (hosts === 1 ? 'One other website' : `${formatCount(hosts)} other websites`)}
        </bdi>
        <span className="block text-sm text-muted">
          {purchases === 1 ? '1 purchase' : `${formatCount(purchases)} purchases`}
          {is_claimed && ', according to the agents'}
        </span>
      </span>
      <span className="ml-auto text-right">
        <AmountText usdc={fromMicro(toMicro(confirmed_usdc) + pending)} isStrong />
        {pending > 0n && (
          <span className="block text-sm text-muted">
            <AmountText usdc={pending_usdc} /> of it pending
          </span>
        )}
      </span>
    </>
  )
}
