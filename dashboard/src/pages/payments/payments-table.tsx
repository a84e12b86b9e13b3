import type { ListedPayment } from '@bursar/server/src/console/contract/payments.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { AgentText } from '../workspace/agent-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { PaymentBadge } from './payment-badge.tsx'
import { PayeeText } from './payee-text.tsx'

interface PaymentsTableProps {
  readonly payments: readonly ListedPayment[]
  /** Whether all payments are of one agent. The columns for the agent and the memo are then hidden. */
  readonly isOneAgent?: boolean
}

const AMOUNT: Column<ListedPayment> = {
  title: 'Amount',
  isNumber: true,
  render: ({ amount_usdc }) => <AmountText usdc={amount_usdc} />,
}
const STATUS: Column<ListedPayment> = {
  title: 'Status',
  render: (payment) => (
    <>
      <PaymentBadge status={payment.status} />
      <DeliveryText payment={payment} />
    </>
  ),
}
const TO: Column<ListedPayment> = {
  title: 'To',
  isLong: true,
  render: (payment) => (
    <TruncatedText>
      <PayeeText payment={payment} />
    </TruncatedText>
  ),
}
const AGENT: Column<ListedPayment> = {
  title: 'Agent',
  isLong: true,
  render: ({ agent_id }) =>
    agent_id === null ? <TruncatedText isFaint>Owner (withdrawal)</TruncatedText> : <AgentText id={agent_id} />,
}
const MEMO: Column<ListedPayment> = {
  title: 'Memo',
  isLong: true,
  render: ({ memo }) => (
    <TruncatedText title={memo ?? undefined} isFaint>
      <bdi>{memo}</bdi>
    </TruncatedText>
  ),
}
const CREATED: Column<ListedPayment> = {
  title: 'Created',
  render: ({ created_at }) => <TimeText at={created_at} isRelative />,
}

/** A table of payments. Each row links to its payment. */
export function PaymentsTable({ payments, isOneAgent = false }: PaymentsTableProps) {
  const { to } = useWorkspace()
  return (
    <DataTable
      caption="Payments"
      columns={isOneAgent ? [AMOUNT, STATUS, TO, CREATED] : [AMOUNT, STATUS, TO, AGENT, MEMO, CREATED]}
      items={payments}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => to('payments', id)}
    />
  )
}

/** Whether the seller delivered a purchase, shown below the purchase's status. Empty if the service does not know. */
function DeliveryText({ payment: { purchase, status } }: { readonly payment: ListedPayment }) {
  const delivery = purchase?.delivery ?? null
  const isOpen = status === 'confirmed' && purchase?.is_resolved === false
  switch (delivery) {
    case 'delivered':
      return <span className="block text-[0.8125rem] whitespace-nowrap text-muted">Delivered</span>
    case 'failed':
      return <Undelivered isOpen={isOpen}>Not delivered</Undelivered>
    case 'unknown':
      return <Undelivered isOpen={isOpen}>No response</Undelivered>
    case null:
      return null
  }
}

/** Only a purchase that was paid, and that nobody has dealt with, is marked. */
function Undelivered({ isOpen, children }: { readonly isOpen: boolean; readonly children: string }) {
  return (
    <span
      className={`block text-[0.8125rem] whitespace-nowrap ${isOpen ? 'font-semibold text-warning' : 'text-muted'}`}
    >
      {children}
    </span>
  )
}
