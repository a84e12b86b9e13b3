import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { ListedStatement } from '@bursar/server/src/console/contract/statements.ts'
import { statementsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { formatMonth } from '../../format/statement-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DownloadStatementButton } from './download-statement-button.tsx'

/** The statements of a month: one for each wallet. */
export function StatementsPage() {
  const { slug, mode, name, to } = useWorkspace()
  const [params, setParams] = useSearchParams()
  const { data, error, refetch } = useQuery(statementsQuery(slug, mode, params.get('month') ?? undefined))
  const month = data?.month ?? null
  return (
    <>
      <PageHeading
        title="Statements"
        breadcrumb={name}
        lead="What moved in each wallet in a calendar month (UTC), with the balances before and after."
      />
      {data === undefined && <QueryState error={error} onRetry={refetch} />}
      {data !== undefined && month === null && (
        <EmptyState title="No statements yet">A wallet has a statement for each month since its creation.</EmptyState>
      )}
      {data !== undefined && month !== null && (
        <div className="grid gap-5">
          <div className="max-w-64">
            <SelectField
              label="Month"
              value={month}
              choices={data.months.map((value, index) => ({
                value,
                text: index === 0 ? `${formatMonth(value)} (so far)` : formatMonth(value),
              }))}
              onChange={(value) => setParams({ month: value }, { preventScrollReset: true })}
            />
          </div>
          {data.statements.length === 0 ? (
            <EmptyState title="No wallets">No wallet existed in {formatMonth(month)}.</EmptyState>
          ) : (
            <DataTable
              caption={`Statements of ${formatMonth(month)}`}
              columns={columnsOf(month, to)}
              items={data.statements}
              keyOf={({ wallet }) => wallet}
            />
          )}
        </div>
      )}
    </>
  )
}

function columnsOf(month: string, to: (...parts: readonly string[]) => string): readonly Column<ListedStatement>[] {
  return [
    {
      title: 'Wallet',
      isLong: true,
      render: ({ wallet, wallet_name }) => (
        <TruncatedText title={wallet_name}>
          <Link to={to('statements', wallet, month)} className="font-semibold text-accent underline">
            <bdi>{wallet_name}</bdi>
          </Link>
        </TruncatedText>
      ),
    },
    { title: 'Opening balance', isNumber: true, render: (one) => <Balance usdc={one.opening_usdc} /> },
    {
      title: 'Closing balance',
      isNumber: true,
      render: (one) => (one.is_over ? <Balance usdc={one.closing_usdc} /> : <Note text="Month not over" />),
    },
    {
      title: 'File',
      render: ({ wallet, wallet_name }) => (
        <DownloadStatementButton wallet={wallet} month={month} label={`Download CSV of ${wallet_name}`} />
      ),
    },
  ]
}

function Balance({ usdc }: { readonly usdc: string | null }) {
  return usdc === null ? <Note text="In the statement" /> : <AmountText usdc={usdc} />
}

function Note({ text }: { readonly text: string }) {
  return <span className="text-muted">{text}</span>
}
