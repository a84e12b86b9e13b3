import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { useQuery } from '@tanstack/react-query'
import { walletsQuery } from '../../api/queries.ts'
import { CodeText } from '../../components/code-text.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useWorkspace } from './use-workspace.ts'

/** The name of a wallet, or the shortened address while the name is not known. */
export function WalletText({ address }: { readonly address: string }) {
  const { slug, mode } = useWorkspace()
  const { data: wallets } = useQuery(walletsQuery(slug, mode))
  const wallet = wallets?.find((candidate) => candidate.address === address)
  if (wallet === undefined) return <CodeText text={address} isShort />
  return (
    <>
      <bdi title={`${wallet.name} (${address})`}>{wallet.name}</bdi>
      {wallet.is_at_risk && ' '}
      <WalletRiskBadge wallet={wallet} />
    </>
  )
}

/** Marks a wallet whose money is lost if one passkey is lost. Shows nothing for other wallets. */
export function WalletRiskBadge({ wallet }: { readonly wallet: Pick<Wallet, 'is_at_risk'> }) {
  if (!wallet.is_at_risk) return null
  return (
    <span title="Only one passkey owns this wallet. If it is lost, the money is lost.">
      <StatusBadge tone="warning">At risk</StatusBadge>
    </span>
  )
}
