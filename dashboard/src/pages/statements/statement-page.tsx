import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { Statement } from '@bursar/server/src/console/contract/statements.ts'
import { statementQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { addMonths, formatMonth } from '../../format/statement-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DownloadStatementButton } from './download-statement-button.tsx'
import { StatementMovements } from './statement-movements.tsx'
import { StatementSummary } from './statement-summary.tsx'

/** The statement of a wallet and a month. It can be printed. */
export function StatementPage() {
  const { slug, mode, name, to } = useWorkspace()
  const { address = '', month = '' } = useParams()
  const { data: statement, error, refetch } = useQuery(statementQuery(slug, mode, address, month))
  const breadcrumb = <TextLink to={`${to('statements')}?month=${month}`}>Statements</TextLink>
  if (statement === undefined) {
    return (
      <>
        <PageHeading title="Statement" breadcrumb={breadcrumb} />
        <QueryState error={error} onRetry={refetch} lines={9} />
      </>
    )
  }
  const title = `Statement for ${formatMonth(month)}`
  return (
    <>
      <PageHeading
        title={title}
        breadcrumb={breadcrumb}
        lead={
          <>
            <bdi>{statement.wallet_name}</bdi> · <CodeText text={statement.wallet} />
            <span className="hidden print:block">
              <bdi>{name}</bdi>, {mode} mode, in USDC. The month and all times are in UTC.
            </span>
          </>
        }
        actions={
          <span className="flex flex-wrap gap-3 print:hidden">
            <DownloadStatementButton wallet={address} month={month} />
            <Button onClick={() => window.print()}>Print</Button>
          </span>
        }
      />
      <StateNotice statement={statement} />
      <StatementSummary statement={statement} />
      <Section title="Movements" lead={<LeadText statement={statement} />}>
        <StatementMovements statement={statement} />
      </Section>
      <nav aria-label="Other months" className="flex flex-wrap gap-x-6 gap-y-2 print:hidden">
        {statement.opening.source !== 'created' && (
          <TextLink to={to('statements', address, addMonths(month, -1))}>{formatMonth(addMonths(month, -1))}</TextLink>
        )}
        {statement.state !== 'open' && (
          <TextLink to={to('statements', address, addMonths(month, 1))}>{formatMonth(addMonths(month, 1))}</TextLink>
        )}
      </nav>
    </>
  )
}

function LeadText({ statement: { movements } }: { readonly statement: Statement }) {
  if (movements === 0) return 'Nothing moved in this month.'
  return 'In the order of the chain. A movement belongs to the month of its block; it is confirmed a moment later.'
}

function StateNotice({ statement: { state, pending } }: { readonly statement: Statement }) {
  if (state === 'open') return <Notice>This month is not over. The statement shows what has moved so far.</Notice>
  if (state === 'closed') return null
  return (
    <Notice tone="warning">
      {pending === 0
        ? 'This statement is not final: the last blocks of the month are still being read. This takes a few minutes.'
        : `This statement is not final: ${pending === 1 ? '1 payment is' : `${pending} payments are`} still pending.`}
    </Notice>
  )
}
