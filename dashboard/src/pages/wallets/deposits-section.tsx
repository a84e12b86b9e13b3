import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Deposit } from '@bursar/server/src/console/contract/wallets.ts'
import { depositsQuery, workspaceQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { EmptyList } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { SenderText } from '../payments/sender-text.tsx'

/** The deposits of a wallet, latest first. */
export function DepositsSection({ address }: { readonly address: string }) {
  const { slug, mode } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  const query = useInfiniteQuery(depositsQuery(slug, mode, address))
  const deposits = query.data?.pages.flatMap((page) => page.deposits)
  const explorer = workspace?.chains[mode].explorer_url ?? null
  return (
    <Section title="Deposits">
      {deposits === undefined && <QueryState error={query.error} onRetry={query.refetch} />}
      {deposits?.length === 0 && <EmptyList>No deposits yet.</EmptyList>}
      {deposits !== undefined && deposits.length > 0 && (
        <DataTable caption="Deposits" columns={columnsWith(explorer)} items={deposits} keyOf={({ id }) => id} />
      )}
      <LoadMore query={query} />
    </Section>
  )
}

function columnsWith(explorer: string | null): readonly Column<Deposit>[] {
  return [
    { title: 'Amount', isNumber: true, render: ({ amount_usdc }) => <AmountText usdc={amount_usdc} isStrong /> },
    { title: 'Received', render: ({ created_at }) => <TimeText at={created_at} isRelative /> },
    {
      title: 'From',
      isLong: true,
      render: ({ from }) => (
        <TruncatedText>
          <SenderText address={from} />
        </TruncatedText>
      ),
    },
    { title: 'Transaction', render: ({ tx_hash }) => <Transaction hash={tx_hash} explorer={explorer} /> },
  ]
}

function Transaction({ hash, explorer }: { readonly hash: string; readonly explorer: string | null }) {
  if (explorer === null) return <CodeText text={hash} what="the transaction hash" isShort />
  return (
    <ExternalLink href={`${explorer}/tx/${hash}`}>
      <span className="sr-only">Block explorer: </span>
      <span title={hash} className="font-mono text-[0.875em] font-normal">
        {formatShortAddress(hash)}
      </span>
    </ExternalLink>
  )
}
