import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { paymentQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { formatAmount } from '../../format/amount.ts'
import { ItemState } from '../workspace/item-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { EvidenceSection } from './evidence-section.tsx'
import { PaymentBadge } from './payment-badge.tsx'
import { PaymentNoteSection } from './payment-note.tsx'
import { PaymentProperties } from './payment-properties.tsx'
import { PaymentTimeline } from './payment-timeline.tsx'
import { PayeeText } from './payee-text.tsx'

export function PaymentPage() {
  const { slug, mode, to } = useWorkspace()
  const { id = '' } = useParams()
  const { data: detail, error, refetch } = useQuery(paymentQuery(slug, mode, id))
  const breadcrumb = <TextLink to={to('payments')}>Payments</TextLink>
  if (detail === undefined) {
    return (
      <>
        <PageHeading title="Payment" breadcrumb={breadcrumb} />
        <ItemState
          noun="payment"
          error={error}
          onRetry={refetch}
          lines={9}
          find={(other) =>
            request('GET /console/workspaces/:slug/payments/:id', { params: { slug, id }, query: { mode: other } })
          }
        />
      </>
    )
  }
  const { payment, purchase } = detail
  return (
    <>
      <PageHeading
        title={`${formatAmount(payment.amount_usdc)} USDC`}
        breadcrumb={breadcrumb}
        lead={
          <>
            {payment.agent_id === null ? 'Withdrawal' : <bdi>{payment.agent_id}</bdi>} to{' '}
            <PayeeText payment={{ to: payment.to, purchase }} />
          </>
        }
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <AmountText usdc={payment.amount_usdc} />
          <PaymentBadge status={payment.status} />
        </span>
      </PageHeading>
      <div className="grid grid-cols-1 items-start gap-8 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Section title="Timeline">
          <PaymentTimeline detail={detail} />
        </Section>
        <div className="grid min-w-0 gap-8">
          <Section title="Details">
            <PaymentProperties detail={detail} />
          </Section>
          <EvidenceSection id={payment.id} />
          <PaymentNoteSection id={payment.id} note={detail.note} />
        </div>
      </div>
    </>
  )
}
