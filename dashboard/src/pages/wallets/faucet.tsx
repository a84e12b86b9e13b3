import { useQuery } from '@tanstack/react-query'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import type { ChainInfo } from '@bursar/server/src/console/contract/workspaces.ts'
import { walletQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { formatAmount } from '../../format/amount.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

interface FaucetProps {
  readonly wallet: Wallet
  readonly faucet: NonNullable<ChainInfo['faucet']>
}

/** A way to get test USDC: a button, or a link to a public faucet. */
export function Faucet({ wallet, faucet }: FaucetProps) {
  const { role } = useWorkspace()
  if (faucet.kind === 'endpoint') return may(role, 'manageWallets') && <FaucetButton wallet={wallet} />
  return (
    <p>
      Test USDC is free. <ExternalLink href={faucet.url}>Get some at {new URL(faucet.url).host}</ExternalLink>.
    </p>
  )
}

const POLL_INTERVAL_MS = 2_000

function FaucetButton({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const { address, balance_usdc } = wallet
  const asking = useAction({
    mutationFn: async () => {
      const input = { params: { slug, address }, body: { mode: 'test' } } as const
      const { amount_usdc } = await request('POST /console/workspaces/:slug/wallets/:address/faucet', input)
      return { amount: amount_usdc, before: balance_usdc }
    },
  })
  const isPending = asking.data !== undefined && asking.data.before === balance_usdc
  // The server reports a deposit only a few blocks after the transfer. The balance changes earlier, so the wallet is
  // fetched again until its balance has changed.
  useQuery({ ...walletQuery(slug, mode, address), refetchInterval: isPending ? POLL_INTERVAL_MS : false })
  return (
    <div className="grid justify-items-start gap-3 border-t border-line pt-4">
      <Button disabled={isPending} isBusy={asking.isPending} onClick={() => asking.mutate()}>
        Get 100 test USDC
      </Button>
      <p role="status" className="text-muted empty:hidden">
        {asking.data !== undefined &&
          (isPending
            ? `${formatAmount(asking.data.amount)} USDC requested. The balance updates in a moment.`
            : `${formatAmount(asking.data.amount)} USDC received.`)}
      </p>
      <ErrorNotice error={asking.error} />
    </div>
  )
}
