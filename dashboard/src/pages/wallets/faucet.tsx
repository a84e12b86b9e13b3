import { useQuery } from '@tanstack/react-query'
import { askFaucet, walletQuery } from '../../api/wallets.ts'
import type { ChainInfo } from '../../api/wire.ts'
import type { Wallet } from '../../api/wire-spending.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { formatAmount } from '../../format/amount.ts'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

interface FaucetProps {
  readonly wallet: Wallet
  readonly faucet: NonNullable<ChainInfo['faucet']>
}

/** Where test USDC comes from. */
export function Faucet({ wallet, faucet }: FaucetProps) {
  const { role } = useWorkspace()
  if (faucet.kind === 'endpoint') return isAdmin(role) && <FaucetButton wallet={wallet} />
  return (
    <p>
      Test USDC costs nothing: <ExternalLink href={faucet.url}>get some at {new URL(faucet.url).host}</ExternalLink>.
    </p>
  )
}

const LOOK_EVERY_MS = 2_000

function FaucetButton({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const { address, balance_usdc } = wallet
  const gift = useAction({
    mutationFn: async () => ({ amount: await askFaucet(slug, address), before: balance_usdc }),
  })
  const isOnItsWay = gift.data !== undefined && gift.data.before === balance_usdc
  // The server tells of a deposit once it is deep enough in the chain; the balance shows it sooner.
  useQuery({ ...walletQuery(slug, mode, address), refetchInterval: isOnItsWay ? LOOK_EVERY_MS : false })
  return (
    <div className="grid justify-items-start gap-3 border-t border-line pt-4">
      <Button disabled={gift.isPending || isOnItsWay} onClick={() => gift.mutate()}>
        Get 100 test USDC
      </Button>
      <p role="status" className="text-muted empty:hidden">
        {gift.data !== undefined &&
          (isOnItsWay
            ? `${formatAmount(gift.data.amount)} USDC are on their way. The balance follows in a moment.`
            : `${formatAmount(gift.data.amount)} USDC arrived.`)}
      </p>
      <ErrorNotice error={gift.error} />
    </div>
  )
}
