import type { Spending, SpendingRow } from '@bursar/server/src/console/contract/overview.ts'
import { useState } from 'react'
import { AmountText } from '../../components/amount-text.tsx'
import { Button } from '../../components/button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { toMicro } from '../../format/amount.ts'
import { formatCount } from '../../format/format-count.ts'
import { AgentLabelText } from '../workspace/agent-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BY_CHOICES, changeText, type By } from './period.ts'

const ROWS_SHOWN = 10

interface SpendingTableProps {
  readonly spending: Spending
  /** Whose spending it is, if it is not that of all agents. */
  readonly agentId?: string
}

/** What was spent under each name, beside the period before. Each row links to its payments. */
export function SpendingTable({ spending, agentId }: SpendingTableProps) {
  const { to } = useWorkspace()
  const { by, rows, start, end } = spending
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? rows : rows.slice(0, ROWS_SHOWN)
  const agent: Readonly<Record<string, string>> = agentId === undefined ? {} : { agent: agentId }
  const pathOf = ({ name }: SpendingRow) =>
    `${to('payments')}?${new URLSearchParams({ from: start, to: end, ...agent, ...filterOf(by, name) })}`
  return (
    <>
      <DataTable
        caption={`Spending ${BY_CHOICES.find((other) => other.by === by)?.text.toLowerCase() ?? ''}`}
        columns={columnsOf(by)}
        items={shown}
        keyOf={({ name, is_claimed }) => `${name ?? ''} ${is_claimed}`}
        hrefOf={pathOf}
      />
      {rows.length > ROWS_SHOWN && !isOpen && (
        <p>
          <Button onClick={() => setOpen(true)}>Show all {formatCount(rows.length)} rows</Button>
        </p>
      )}
    </>
  )
}

/** The filter of the payments page for the payments that a row adds up. */
function filterOf(by: By, name: string | null): Readonly<Record<string, string>> {
  const purchases: Readonly<Record<string, string>> = by === 'host' ? { kind: 'x402' } : {}
  if (name === null) return purchases
  return by === 'host' ? { ...purchases, q: name } : { [by]: name }
}

function columnsOf(by: By): readonly Column<SpendingRow>[] {
  const title = BY_CHOICES.find((other) => other.by === by)?.title ?? ''
  return [
    { title, isWide: true, isLong: true, render: (row) => <NameCell by={by} row={row} /> },
    {
      title: 'Spent',
      isNumber: true,
      render: ({ spent_usdc }) => <AmountText isRounded isStrong usdc={spent_usdc} />,
    },
    {
      title: 'Before',
      isNumber: true,
      render: ({ previous_usdc }) => (
        <span className="text-muted">
          <span className="md:hidden">before: </span>
          <AmountText isRounded usdc={previous_usdc} />
        </span>
      ),
    },
    { title: 'Change', isNumber: true, render: (row) => <ChangeCell row={row} /> },
    {
      title: 'Payments',
      isNumber: true,
      render: ({ payments }) => (
        <span className="tabular-nums">
          {formatCount(payments)}
          <span className="md:hidden">{payments === 1 ? ' payment' : ' payments'}</span>
        </span>
      ),
    },
  ]
}

function NameCell({ by, row: { name, label, names, is_claimed } }: { readonly by: By; readonly row: SpendingRow }) {
  if (name === null) return `${formatCount(names)} ${names === 1 ? 'other' : 'others'}`
  const isAddress = by === 'recipient' || by === 'wallet'
  return (
    <span className="block truncate" title={name}>
      <bdi>{label ?? (isAddress ? `${name.slice(0, 6)}…${name.slice(-4)}` : name)}</bdi>
      {by === 'agent' && <AgentLabelText id={name} />}
      {isAddress && label !== null && (
        <span className="ml-2 font-mono text-[0.8125rem] font-normal text-muted max-lg:hidden">
          {name.slice(0, 6)}…{name.slice(-4)}
        </span>
      )}
      {is_claimed && <span className="ml-2 text-sm font-normal text-muted">according to the agents</span>}
    </span>
  )
}

function ChangeCell({ row: { spent_usdc, previous_usdc } }: { readonly row: SpendingRow }) {
  const change = changeText(toMicro(spent_usdc), toMicro(previous_usdc))
  return <span className="text-muted tabular-nums">{change ?? 'new'}</span>
}
