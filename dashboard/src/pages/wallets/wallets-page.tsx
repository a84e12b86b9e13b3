import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletsQuery } from '../../api/wallets.ts'
import { Button } from '../../components/button.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatOwnerTitle } from '../../format/owner-text.ts'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BalanceText } from './balance-text.tsx'
import { NewWalletForm } from './new-wallet-form.tsx'

export function WalletsPage() {
  const { slug, mode, name, role, to } = useWorkspace()
  const { data: wallets, error, refetch } = useQuery(walletsQuery(slug, mode))
  const [isAdding, setAdding] = useState(false)
  const add = isAdmin(role) && !isAdding && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      New wallet
    </Button>
  )
  return (
    <>
      <PageHeading
        title="Wallets"
        breadcrumb={name}
        lead="Wallets hold the USDC that your agents spend. Each wallet is owned by one passkey."
        actions={wallets !== undefined && wallets.length > 0 && add}
      />
      {isAdding && <NewWalletForm onCancel={() => setAdding(false)} />}
      {wallets === undefined && <QueryState error={error} onRetry={refetch} />}
      {wallets?.length === 0 && !isAdding && (
        <EmptyState title="No wallets yet" action={add}>
          A wallet holds the USDC that your agents spend. Your passkey owns it: only that passkey can sign grants.
        </EmptyState>
      )}
      {wallets !== undefined && wallets.length > 0 && (
        <DataTable
          caption="Wallets"
          columns={COLUMNS}
          items={wallets}
          keyOf={({ address }) => address}
          hrefOf={({ address }) => to('wallets', address)}
        />
      )}
    </>
  )
}

const COLUMNS: readonly Column<Wallet>[] = [
  { title: 'Name', render: ({ name }) => <bdi>{name}</bdi> },
  { title: 'Balance', isNumber: true, render: ({ balance_usdc }) => <BalanceText usdc={balance_usdc} /> },
  { title: 'Address', render: ({ address }) => <CodeText text={address} isShort /> },
  { title: 'Grants', isNumber: true, render: ({ grants }) => <GrantCount count={grants} /> },
  { title: 'Owner', isSecondary: true, render: ({ owner }) => <bdi>{formatOwnerTitle(owner)}</bdi> },
]

function GrantCount({ count }: { readonly count: number }) {
  if (count === 0) return <span className="text-muted">No grants</span>
  return count === 1 ? '1 grant' : `${count} grants`
}
