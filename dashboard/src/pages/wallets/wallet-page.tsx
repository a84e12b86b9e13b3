import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { liveKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import { fundsQuery, grantsQuery, walletQuery, workspaceQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { RenameDialog } from '../../components/name-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { formatAmount } from '../../format/amount.ts'
import { balanceOf } from '../../format/funds-text.ts'
import { formatOwners, mustConfirm } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { GrantTable } from '../grants/grant-table.tsx'
import { LatestPayments } from '../payments/latest-payments.tsx'
import { ItemState } from '../workspace/item-state.tsx'
import { StopButton } from '../workspace/stop-button.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DepositsSection } from './deposits-section.tsx'
import { FundingSection } from './funding-section.tsx'
import { OwnersSection } from './owners-section.tsx'
import { WalletRiskBadge } from '../workspace/wallet-text.tsx'

export function WalletPage() {
  const { slug, mode, role, to } = useWorkspace()
  const { address = '' } = useParams()
  const { data: wallet, error, refetch } = useQuery(walletQuery(slug, mode, address))
  // The section on funding needs the workspace. The page waits for it, so that nothing moves when it has loaded.
  const { isPending } = useQuery(workspaceQuery(slug))
  const breadcrumb = <TextLink to={to('wallets')}>Wallets</TextLink>
  if (wallet === undefined || (isPending && error === null)) {
    return (
      <>
        <PageHeading title={`Wallet ${formatShortAddress(address)}`} breadcrumb={breadcrumb} />
        <ItemState
          noun="wallet"
          error={error}
          onRetry={refetch}
          find={(other) =>
            request('GET /console/workspaces/:slug/wallets/:address', {
              params: { slug, address },
              query: { mode: other },
            })
          }
        />
      </>
    )
  }
  return (
    <>
      <PageHeading
        title={wallet.name}
        breadcrumb={breadcrumb}
        lead={
          <span className="grid justify-items-start gap-2">
            <WalletRiskBadge wallet={wallet} />
            <span>
              Owned by <bdi>{formatOwners(wallet.owners, 'and')}</bdi>. Created <TimeText at={wallet.created_at} />.
            </span>
          </span>
        }
        actions={
          <>
            {may(role, 'manageWallets') && <Renaming wallet={wallet} />}
            {may(role, 'withdraw') && !mustConfirm(wallet) && (
              <ButtonLink to={to('wallets', wallet.address, 'withdraw')}>Withdraw</ButtonLink>
            )}
            {may(role, 'manageGrants') && (
              <StopButton
                slug={slug}
                mode={mode}
                scope={{ wallet: wallet.address }}
                label="Stop agents"
                title={`Stop all agents’ payments from “${wallet.name}”?`}
              />
            )}
          </>
        }
      >
        <bdi>{wallet.name}</bdi>
      </PageHeading>
      <Balance wallet={wallet} />
      {wallet.coin !== null && <CoinBalance coin={wallet.coin} />}
      <OwnersSection wallet={wallet} />
      <FundingSection wallet={wallet} />
      <WalletGrants wallet={wallet} />
      <LatestPayments filter={{ wallet: wallet.address }} />
      <DepositsSection address={wallet.address} />
    </>
  )
}

function Renaming({ wallet: { address, name } }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const rename = async (text: string) => {
    const body = { mode, name: text }
    await request('PATCH /console/workspaces/:slug/wallets/:address', { params: { slug, address }, body })
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  return (
    <RenameDialog name={name} onRename={rename}>
      Every member sees the new name. The address and the grants stay the same.
    </RenameDialog>
  )
}

function Balance({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const { data: stored } = useQuery({ ...fundsQuery(slug, mode), enabled: wallet.balance_usdc === null })
  const balance = balanceOf(wallet, stored)
  return (
    <section aria-label="Balance" className="grid gap-1">
      <p className="text-sm font-semibold text-muted">Balance</p>
      {balance === null ? (
        <p className="text-lg">
          The balance is not available.{' '}
          <span className="text-muted">The chain could not be reached. Your USDC is safe. Try again later.</span>
        </p>
      ) : (
        <p className="text-4xl font-bold tracking-tight tabular-nums">
          {formatAmount(balance.usdc)} <span className="text-lg font-normal text-muted">USDC</span>
        </p>
      )}
      {balance !== null && balance.readAt !== null && (
        <p className="text-muted">
          As of <TimeText at={balance.readAt} isExact />. The chain could not be read now.
        </p>
      )}
    </section>
  )
}

/** The wallet's balance of native coin, which pays for gas. Shown only if the enclave does not sponsor gas. */
function CoinBalance({ coin: { symbol, balance } }: { readonly coin: NonNullable<Wallet['coin']> }) {
  return (
    <section aria-label="Native coin" className="grid gap-1">
      <p className="text-sm font-semibold text-muted">Native coin</p>
      <p className="text-lg tabular-nums">
        {balance === null ? 'Not available.' : `${balance} ${symbol}`}{' '}
        <span className="text-muted">This balance pays for the gas of payments from this wallet.</span>
      </p>
    </section>
  )
}

function WalletGrants({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode, role, to } = useWorkspace()
  const { data: grants, error, refetch } = useQuery(grantsQuery(slug, mode, { wallet: wallet.address }))
  const open = grants?.filter(({ status }) => status !== 'revoked') ?? []
  const ended = grants?.filter(({ status }) => status === 'revoked') ?? []
  const isBlocked = may(role, 'manageGrants') && mustConfirm(wallet)
  const canOpen = may(role, 'manageGrants') && !isBlocked
  const newGrant = `${to('grants', 'new')}?${new URLSearchParams({ wallet: wallet.address })}`
  return (
    <Section
      title="Grants"
      lead="Each grant lets an agent spend from this wallet."
      actions={canOpen && open.length > 0 && <TextLink to={newGrant}>New grant</TextLink>}
    >
      {grants === undefined && <QueryState error={error} onRetry={refetch} />}
      {grants !== undefined && open.length === 0 && (
        <EmptyState
          title="No agent can spend from this wallet"
          action={
            canOpen && (
              <ButtonLink variant="primary" to={newGrant}>
                New grant
              </ButtonLink>
            )
          }
        >
          {isBlocked
            ? 'Confirm the wallet first. Then you can create grants and withdraw.'
            : 'Create a grant to let an agent spend from this wallet. An owner of the wallet must sign the grant.'}
        </EmptyState>
      )}
      {open.length > 0 && <GrantTable caption="Grants" grants={open} hiddenColumn="wallet" />}
      {ended.length > 0 && (
        <Disclosure summary={`Ended grants (${ended.length})`}>
          <GrantTable caption="Ended grants" grants={ended} hiddenColumn="wallet" />
        </Disclosure>
      )}
    </Section>
  )
}
