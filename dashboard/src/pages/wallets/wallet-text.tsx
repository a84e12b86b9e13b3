import { useQuery } from '@tanstack/react-query'
import { walletsQuery } from '../../api/wallets.ts'
import { CodeText } from '../../components/code-text.tsx'
import { WalletRiskBadge } from './wallet-risk-badge.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

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
