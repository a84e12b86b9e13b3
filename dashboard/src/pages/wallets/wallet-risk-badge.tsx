import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { StatusBadge } from '../../components/status-badge.tsx'

/** Marks a wallet whose money is lost if one passkey is lost. Shows nothing for other wallets. */
export function WalletRiskBadge({ wallet }: { readonly wallet: Pick<Wallet, 'is_at_risk'> }) {
  if (!wallet.is_at_risk) return null
  return (
    <span title="Only one passkey owns this wallet. If it is lost, the money is lost.">
      <StatusBadge tone="warning">At risk</StatusBadge>
    </span>
  )
}
