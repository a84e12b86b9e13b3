import { useInfiniteQuery } from '@tanstack/react-query'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { paymentsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { sumAmounts } from '../../format/amount.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BalanceText } from './balance-text.tsx'

/** The balance of a wallet, and what its pending payments have reserved. */
export function WalletFunds({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const filter = { wallet: wallet.address, status: 'pending' } as const
  const { data, isError } = useInfiniteQuery(paymentsQuery(slug, mode, filter))
  const [page] = data?.pages ?? []
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-3">
      <div>
        <dt className="text-sm text-muted">Balance</dt>
        <dd className="text-lg font-semibold tabular-nums">
          <BalanceText usdc={wallet.balance_usdc} />
        </dd>
      </div>
      <div>
        <dt className="text-sm text-muted">Reserved by pending payments</dt>
        <dd className="text-lg font-semibold tabular-nums">
          {page === undefined ? (
            <span className="text-muted">{isError ? 'Not available' : 'Loading…'}</span>
          ) : (
            <>
              {page.next !== null && 'at least '}
              <AmountText usdc={sumAmounts(page.payments.map(({ amount_usdc }) => amount_usdc))} />
            </>
          )}
        </dd>
      </div>
    </dl>
  )
}
