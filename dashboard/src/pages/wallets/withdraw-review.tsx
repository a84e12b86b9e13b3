import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { liveKey } from '../../api/query-key.ts'
import { signWithdrawal, type WithdrawalRequest } from '../../api/withdrawals.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Button } from '../../components/button.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { labelOf } from '../../format/label-of.ts'
import { SignerStatus } from '../../components/signer-status.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { nameRecipients } from '../grants/name-recipients.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useNetwork } from './use-network.ts'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

interface WithdrawReviewProps {
  readonly wallet: Wallet
  readonly to: string
  readonly isEverything: boolean
  readonly prepared: WithdrawalRequest
  readonly recipients: readonly Recipient[]
  readonly onBack: () => void
}

/** Shows the exact withdrawal before the owner signs it. Afterwards, its payment page opens. */
export function WithdrawReview({ wallet, to, isEverything, prepared, recipients, onBack }: WithdrawReviewProps) {
  const { slug, mode, to: pathTo } = useWorkspace()
  const client = useQueryClient()
  const network = useNetwork()
  const navigate = useNavigate()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const signed = useSignedWallet()(wallet)
  const claims = { ...signed.claims, addressNames: nameRecipients([to], recipients) }
  const signature = useSigner({
    run: (signer) => signWithdrawal(signer, { ...signed, claims }, prepared),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      await navigate(pathTo('payments', id))
    },
  })
  const label = labelOf(recipients, to)
  const { amount_usdc, balance_usdc, pending_usdc, request } = prepared
  return (
    <section aria-labelledby="review" className="grid max-w-2xl gap-5">
      <h2 id="review" ref={heading} tabIndex={-1} className="text-lg font-bold">
        Review the withdrawal
      </h2>
      <DescriptionList>
        <DescriptionItem term="Amount">
          <AmountText usdc={amount_usdc} isStrong /> {isEverything && <span className="text-muted">(everything)</span>}
        </DescriptionItem>
        <DescriptionItem term="To">
          {label !== null && <bdi className="font-semibold">{label} </bdi>}
          <span className="font-mono text-[0.9375rem] break-all">{to}</span>
        </DescriptionItem>
        <DescriptionItem term="From">
          <bdi>{wallet.name}</bdi>
        </DescriptionItem>
        {network !== null && <DescriptionItem term="Network">{network}</DescriptionItem>}
        <DescriptionItem term="Balance">
          <AmountText usdc={balance_usdc} />
        </DescriptionItem>
        <DescriptionItem term="Reserved by pending payments">
          <AmountText usdc={pending_usdc} />
        </DescriptionItem>
      </DescriptionList>
      <p className="text-[0.9375rem] text-muted">
        {mode === 'live' && <strong className="text-warning">This is real money. </strong>}A withdrawal can’t be taken
        back. Sign it before <TimeText at={request.expires_at} isExact />.
      </p>
      <SignerStatus signer={signature} />
      <p className="flex flex-wrap gap-3">
        <Button variant="primary" isBusy={signature.isPending} onClick={() => signature.start()}>
          Sign and withdraw
        </Button>
        <Button variant="quiet" onClick={onBack}>
          Back
        </Button>
      </p>
    </section>
  )
}
