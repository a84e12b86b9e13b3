import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletQuery } from '../../api/queries.ts'
import { prepareWithdrawal, type Withdrawal } from '../../api/withdrawals.ts'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useAction } from '../../components/use-action.ts'
import { formatShortAddress } from '../../format/address.ts'
import { canSign } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { CannotSignText } from '../grants/cannot-sign-text.tsx'
import { useRecipients } from '../grants/use-recipients.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useNetwork } from './use-network.ts'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'
import { WithdrawForm } from './withdraw-form.tsx'
import { WithdrawReview } from './withdraw-review.tsx'

export function WithdrawPage() {
  const { slug, mode, to } = useWorkspace()
  const network = useNetwork()
  const { address = '' } = useParams()
  const { data: wallet, error, refetch } = useQuery(walletQuery(slug, mode, address))
  return (
    <>
      <PageHeading
        title="Withdraw"
        breadcrumb={<TextLink to={to('wallets', address)}>{wallet?.name ?? formatShortAddress(address)}</TextLink>}
        lead={
          <>
            Send USDC on {network ?? <span className="invisible">Base Sepolia</span>} from this wallet to any address.
            You sign the withdrawal with a passkey that owns the wallet. The limits of grants do not apply.
          </>
        }
      />
      {wallet === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={4} />
      ) : (
        <WithdrawSteps key={wallet.address} wallet={wallet} />
      )}
    </>
  )
}

/** Asks for recipient and amount, then shows what will be signed. */
function WithdrawSteps({ wallet }: { readonly wallet: Wallet }) {
  const { role } = useWorkspace()
  const recipients = useRecipients()
  const [draft, setDraft] = useState<Withdrawal | null>(null)
  const signed = useSignedWallet()(wallet)
  const preparation = useAction({
    mutationFn: (withdrawal: Withdrawal) => prepareWithdrawal(signed, withdrawal),
    onSuccess: (_, withdrawal) => setDraft(withdrawal),
  })
  if (!may(role, 'withdraw') || !canSign(wallet)) {
    return (
      <Notice>
        {may(role, 'withdraw') ? (
          <CannotSignText wallet={wallet} />
        ) : (
          <p>Viewers can’t withdraw. Ask an owner or admin of this workspace.</p>
        )}
      </Notice>
    )
  }
  if (draft !== null && preparation.data !== undefined) {
    return (
      <WithdrawReview
        wallet={wallet}
        to={draft.to}
        isEverything={draft.amountUsdc === null}
        prepared={preparation.data}
        recipients={recipients.list}
        onBack={() => setDraft(null)}
      />
    )
  }
  return (
    <WithdrawForm
      wallet={wallet}
      recipients={recipients.list}
      initial={preparation.variables}
      error={preparation.error}
      isPending={preparation.isPending}
      onSubmit={preparation.mutate}
    />
  )
}
