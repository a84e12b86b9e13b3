import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Movement, Statement } from '@bursar/server/src/console/contract/statements.ts'
import { movementsQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { formatAmount, fromMicro, toMicro } from '../../format/amount.ts'
import { formatResource } from '../../format/format-resource.ts'
import { formatUtcTime, MOVEMENT_TEXTS } from '../../format/statement-text.ts'
import { RecipientText } from '../payments/recipient-text.tsx'
import { SenderText } from '../payments/sender-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** More rows than this would make the page slow. The file has all of them. */
const SHOWN_MAX = 20_000

type ListedMovement = Movement & { readonly balance: string }

/** The movements of a statement, in the order of the chain, with the balance after each. */
export function StatementMovements({ statement }: { readonly statement: Statement }) {
  const { slug, mode, to } = useWorkspace()
  const query = useInfiniteQuery(movementsQuery(slug, mode, statement.wallet, statement.month))
  /**
   * How many pages are shown while all others are loading. Null at other times, when all are shown. It takes long to show
   * thousands of rows, so they are shown once, when the last page has come.
   */
  const [pagesHeld, setPagesHeld] = useState<number | null>(null)
  const { data, error, refetch, hasNextPage, fetchNextPage } = query
  if (statement.movements === 0) return null
  if (data === undefined) return <QueryState error={error} onRetry={refetch} lines={8} />
  const items = addBalances(
    statement.opening.usdc,
    data.pages.slice(0, pagesHeld ?? data.pages.length).flatMap(({ movements }) => movements),
  )
  const loadAll = async () => {
    setPagesHeld(data.pages.length)
    let result = await fetchNextPage()
    const count = () => result.data?.pages.reduce((total, { movements }) => total + movements.length, 0) ?? SHOWN_MAX
    while (result.hasNextPage && !result.isError && count() < SHOWN_MAX) result = await fetchNextPage()
    setPagesHeld(null)
  }
  return (
    <div className="grid gap-5">
      <DataTable caption="Movements" columns={columnsOf(statement, to)} items={items} keyOf={({ id }) => id} />
      <ErrorNotice error={error} />
      {(hasNextPage || pagesHeld !== null) && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p>
            The first {items.length.toLocaleString('en')} of {statement.movements.toLocaleString('en')} movements. The
            CSV file has all of them.
          </p>
          {items.length < SHOWN_MAX && (
            <span className="print:hidden">
              <Button isBusy={pagesHeld !== null} onClick={() => void loadAll()}>
                Show all
              </Button>
            </span>
          )}
        </div>
      )}
    </div>
  )
}

function addBalances(opening: string, movements: readonly Movement[]): ListedMovement[] {
  let micro = toMicro(opening)
  return movements.map((movement) => {
    micro += toMicro(movement.in_usdc) - toMicro(movement.out_usdc)
    return { ...movement, balance: fromMicro(micro) }
  })
}

function columnsOf({ gas }: Statement, to: (...parts: readonly string[]) => string): readonly Column<ListedMovement>[] {
  return [
    { title: 'Confirmed (UTC)', render: ({ confirmed_at }) => <Short text={formatUtcTime(confirmed_at)} /> },
    {
      title: 'Type',
      render: ({ type, payment_id }) =>
        payment_id === null ? (
          <Short text={MOVEMENT_TEXTS[type]} />
        ) : (
          <TextLink to={to('payments', payment_id)}>{MOVEMENT_TEXTS[type]}</TextLink>
        ),
    },
    {
      title: 'From or to',
      isLong: true,
      render: ({ type, counterparty, resource }) => (
        <TruncatedText title={resource ?? undefined}>
          {resource !== null ? (
            <bdi>{formatResource(resource)}</bdi>
          ) : type === 'deposit' ? (
            <SenderText address={counterparty} />
          ) : (
            <RecipientText address={counterparty} />
          )}
        </TruncatedText>
      ),
    },
    {
      title: 'Agent and memo',
      isLong: true,
      render: ({ agent_id, memo }) => (
        <TruncatedText title={memo ?? undefined} isFaint>
          <bdi>{[agent_id, memo].filter((text) => text !== null).join(' · ')}</bdi>
        </TruncatedText>
      ),
    },
    { title: 'In', isNumber: true, render: ({ in_usdc }) => <Amount usdc={in_usdc} sign="+" /> },
    { title: 'Out', isNumber: true, render: ({ out_usdc }) => <Amount usdc={out_usdc} sign="−" /> },
    ...(gas === null
      ? []
      : [
          {
            title: `Gas (${gas.currency})`,
            isNumber: true,
            render: (movement: ListedMovement) => <span className="tabular-nums">{movement.gas}</span>,
          },
        ]),
    {
      title: 'Balance',
      isNumber: true,
      render: ({ balance }) => <span className="whitespace-nowrap tabular-nums">{formatAmount(balance)}</span>,
    },
  ]
}

function Short({ text }: { readonly text: string }) {
  return <span className="whitespace-nowrap">{text}</span>
}

/** An amount that moved in one direction. Empty if nothing did. */
function Amount({ usdc, sign }: { readonly usdc: string; readonly sign: string }) {
  if (usdc === '0') return null
  return (
    <span className="whitespace-nowrap tabular-nums">
      <span aria-hidden="true">{sign}</span>
      {formatAmount(usdc)}
    </span>
  )
}
