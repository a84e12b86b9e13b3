import { useQuery } from '@tanstack/react-query'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletsQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Names the wallets whose owners should add a second passkey. */
export function WalletsNotice() {
  const { slug, mode } = useWorkspace()
  const { data: wallets = [] } = useQuery(walletsQuery(slug, mode))
  const atRisk = wallets.filter(({ is_at_risk }) => is_at_risk)
  if (atRisk.length === 0) return null
  return (
    <Notice tone="warning">
      <p>
        <strong>At risk:</strong> <WalletLinks wallets={atRisk} />. If the only passkey of a wallet is lost, its money
        is lost. Add a second passkey.
      </p>
    </Notice>
  )
}

/** At most this many wallets are named in each sentence. The wallets page marks all affected wallets. */
const LINKS_MAX = 5

function WalletLinks({ wallets }: { readonly wallets: readonly Wallet[] }) {
  const { to } = useWorkspace()
  const rest = wallets.length - LINKS_MAX
  return (
    <>
      {wallets.slice(0, LINKS_MAX).map(({ address, name }, index) => (
        <span key={address}>
          {index > 0 && ', '}
          <TextLink to={to('wallets', address)}>
            <bdi>{name}</bdi>
          </TextLink>
        </span>
      ))}
      {rest > 0 && (
        <>
          {' '}
          and <TextLink to={to('wallets')}>{rest} more</TextLink>
        </>
      )}
    </>
  )
}
