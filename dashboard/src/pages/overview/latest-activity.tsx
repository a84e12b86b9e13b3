import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { PaymentBadge } from '../payments/payment-badge.tsx'
import { PayeeText } from '../payments/payee-text.tsx'
import { SenderText } from '../payments/sender-text.tsx'
import { WalletText } from '../workspace/wallet-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

export function LatestPayments({ payments }: Pick<Overview, 'payments'>) {
  const { to } = useWorkspace()
  return (
    <Section title="Latest payments and withdrawals" actions={<TextLink to={to('payments')}>Show all</TextLink>}>
      {payments.length === 0 ? (
        <p className="rounded-xl border border-dashed border-line px-5 py-6 text-muted">
          No payments or withdrawals yet.
        </p>
      ) : (
        <Lines>
          {payments.map((payment) => (
            <Line
              key={payment.id}
              to={to('payments', payment.id)}
              title={<AmountText usdc={payment.amount_usdc} isStrong />}
              aside={<PaymentBadge status={payment.status} />}
              at={payment.created_at}
            >
              <Parties
                from={payment.agent_id === null ? 'Withdrawal' : <bdi title={payment.agent_id}>{payment.agent_id}</bdi>}
                to={<PayeeText payment={payment} />}
              />
            </Line>
          ))}
        </Lines>
      )}
    </Section>
  )
}

export function LatestDeposits({ deposits }: Pick<Overview, 'deposits'>) {
  const { to } = useWorkspace()
  return (
    <Section title="Latest deposits" actions={<TextLink to={to('wallets')}>All wallets</TextLink>}>
      {deposits.length === 0 ? (
        <p className="rounded-xl border border-dashed border-line px-5 py-6 text-muted">
          No deposits yet. Open a wallet to see its deposit address.
        </p>
      ) : (
        <Lines>
          {deposits.map(({ id, amount_usdc, from, wallet, created_at }) => (
            <Line
              key={id}
              to={to('wallets', wallet)}
              title={<AmountText usdc={amount_usdc} isStrong />}
              at={created_at}
            >
              <span className="line-clamp-2 wrap-anywhere">
                <SenderText address={from} lead="From " /> to <WalletText address={wallet} />
              </span>
            </Line>
          ))}
        </Lines>
      )}
    </Section>
  )
}

/** Sender and recipient on one line. Long names are truncated. */
function Parties({ from, to }: { readonly from: ReactNode; readonly to: ReactNode }) {
  return (
    <span className="flex gap-x-1">
      <span className="max-w-1/2 shrink-0 truncate">{from}</span>
      <span className="shrink-0"> to </span>
      <span className="min-w-0 truncate">{to}</span>
    </span>
  )
}

function Lines({ children }: { readonly children: ReactNode }) {
  return <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">{children}</ul>
}

interface LineProps {
  readonly to: string
  readonly title: ReactNode
  readonly aside?: ReactNode
  readonly at: string
  readonly children: ReactNode
}

function Line({ to, title, aside, at, children }: LineProps) {
  return (
    <li>
      <Link
        to={to}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-0.5 px-5 py-3 hover:bg-sunken focus-visible:-outline-offset-2"
      >
        <span>{title}</span>
        <span className="text-right">{aside}</span>
        <span className="min-w-0 text-sm text-muted">{children}</span>
        <span className="text-right text-sm text-muted">
          <TimeText at={at} isRelative />
        </span>
      </Link>
    </li>
  )
}
