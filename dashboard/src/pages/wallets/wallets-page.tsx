import { useQuery } from '@tanstack/react-query'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { fundsQuery, walletsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Button } from '../../components/button.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useNewForm } from '../../components/use-new-form.ts'
import { sumAmounts } from '../../format/amount.ts'
import { balanceOf } from '../../format/funds-text.ts'
import { formatOwnerTitle } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BalanceText } from './balance-text.tsx'
import { NewWalletForm } from './new-wallet-form.tsx'
import { WalletRiskBadge } from '../workspace/wallet-text.tsx'

type ListedWallet = Wallet & { readonly balance: ReturnType<typeof balanceOf> }

export function WalletsPage() {
  const { slug, mode, name, role, to } = useWorkspace()
  const { data: wallets, error, refetch } = useQuery(walletsQuery(slug, mode))
  // The stored balances are needed only if the chain did not return all balances.
  const isIncomplete = wallets?.some(({ balance_usdc }) => balance_usdc === null) ?? false
  const { data: stored } = useQuery({ ...fundsQuery(slug, mode), enabled: isIncomplete })
  const listed = wallets?.map((wallet) => ({ ...wallet, balance: balanceOf(wallet, stored) })) ?? []
  const [isAdding, setAdding] = useNewForm()
  const add = may(role, 'manageWallets') && !isAdding && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      New wallet
    </Button>
  )
  return (
    <>
      <PageHeading
        title="Wallets"
        breadcrumb={name}
        lead="Wallets hold the USDC that your agents spend. One or more wallet passkeys own each wallet."
        actions={wallets !== undefined && wallets.length > 0 && add}
      />
      {isAdding && <NewWalletForm onCancel={() => setAdding(false)} />}
      {wallets === undefined && <QueryState error={error} onRetry={refetch} />}
      {wallets?.length === 0 && !isAdding && (
        <EmptyState title="No wallets yet" action={add}>
          A wallet holds the USDC that your agents spend. A wallet passkey owns it, and signs what agents may spend.
        </EmptyState>
      )}
      {wallets !== undefined && wallets.length > 0 && (
        <div className="grid gap-3">
          <Total wallets={listed} />
          <DataTable
            caption="Wallets"
            columns={COLUMNS}
            items={listed}
            keyOf={({ address }) => address}
            hrefOf={({ address }) => to('wallets', address)}
          />
          {wallets.some(({ is_at_risk }) => is_at_risk) && (
            <p className="text-sm text-muted">
              At risk: only one passkey owns the wallet. If it is lost, the money is lost.
            </p>
          )}
        </div>
      )}
    </>
  )
}

/** What all wallets hold together. Says how many are missing if not all balances are known. */
function Total({ wallets }: { readonly wallets: readonly ListedWallet[] }) {
  const known = wallets.flatMap(({ balance }) => (balance === null ? [] : [balance.usdc]))
  if (known.length === 0) return null
  const missing = wallets.length - known.length
  return (
    <p>
      <span className="text-muted">Total balance </span>
      <span className="text-xl font-bold">
        <AmountText isRounded usdc={sumAmounts(known)} />
      </span>
      {missing > 0 && <span className="text-muted"> without {missing === 1 ? '1 wallet' : `${missing} wallets`}</span>}
    </p>
  )
}

const COLUMNS: readonly Column<ListedWallet>[] = [
  { title: 'Name', isLong: true, render: (wallet) => <NameCell wallet={wallet} /> },
  { title: 'Balance', isNumber: true, render: ({ balance }) => <BalanceCell balance={balance} /> },
  { title: 'Address', render: ({ address }) => <CodeText text={address} isShort /> },
  { title: 'Grants', isNumber: true, render: ({ grants }) => <GrantCount count={grants} /> },
  { title: 'Owners', isLong: true, isSecondary: true, render: ({ owners }) => <OwnerCell owners={owners} /> },
]

function BalanceCell({ balance }: Pick<ListedWallet, 'balance'>) {
  return (
    <>
      <BalanceText isRounded usdc={balance?.usdc ?? null} />
      {balance !== null && balance.readAt !== null && (
        <span className="block text-sm text-muted">
          as of <TimeText at={balance.readAt} isExact />
        </span>
      )}
    </>
  )
}

function NameCell({ wallet }: { readonly wallet: Wallet }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <TruncatedText title={wallet.name}>
        <bdi>{wallet.name}</bdi>
      </TruncatedText>
      <WalletRiskBadge wallet={wallet} />
    </span>
  )
}

function OwnerCell({ owners }: Pick<Wallet, 'owners'>) {
  const [first] = owners
  if (owners.length > 1) return `${owners.length} passkeys`
  if (first === undefined) return null
  const title = formatOwnerTitle(first)
  return (
    <TruncatedText title={title}>
      <bdi>{title}</bdi>
    </TruncatedText>
  )
}

function GrantCount({ count }: { readonly count: number }) {
  if (count === 0) return <span className="text-muted">No grants</span>
  return count === 1 ? '1 grant' : `${count} grants`
}
