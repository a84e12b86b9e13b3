import type { Payment } from '../../api/wire-spending.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useWorkspace } from '../workspace/workspace-context.ts'
import { PaymentBadge } from './payment-badge.tsx'
import { RecipientText } from './recipient-text.tsx'

interface PaymentsTableProps {
  readonly payments: readonly Payment[]
  /** On an agent's own page every payment is its own. */
  readonly isOneAgent?: boolean
}

const AMOUNT: Column<Payment> = { title: 'Amount', render: ({ amount_usdc }) => <AmountText usdc={amount_usdc} /> }
const STATUS: Column<Payment> = { title: 'Status', render: ({ status }) => <PaymentBadge status={status} /> }
const TO: Column<Payment> = { title: 'To', render: ({ to }) => <RecipientText address={to} /> }
const AGENT: Column<Payment> = {
  title: 'Agent',
  render: ({ agent_id }) => <bdi className="block truncate md:max-w-44">{agent_id}</bdi>,
}
const MEMO: Column<Payment> = {
  title: 'Memo',
  render: ({ memo }) => <bdi className="block truncate text-muted md:max-w-44">{memo}</bdi>,
}
const WHEN: Column<Payment> = { title: 'When', render: ({ created_at }) => <TimeText at={created_at} isSince /> }

/** Payments, one a row; each leads to its page. */
export function PaymentsTable({ payments, isOneAgent = false }: PaymentsTableProps) {
  const { to } = useWorkspace()
  return (
    <DataTable
      caption="Payments"
      columns={isOneAgent ? [AMOUNT, STATUS, TO, WHEN] : [AMOUNT, STATUS, TO, AGENT, MEMO, WHEN]}
      items={payments}
      keyOf={({ id }) => id}
      toOf={({ id }) => to('payments', id)}
    />
  )
}
