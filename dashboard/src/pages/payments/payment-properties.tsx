import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { WalletText } from '../workspace/wallet-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { PurchaseProperties } from './purchase-properties.tsx'
import { RecipientAddress } from './recipient-address.tsx'

/** The properties of a payment, and the grant that allowed it. A withdrawal has no grant. */
export function PaymentProperties({ detail: { payment, purchase, grant } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  return (
    <DescriptionList>
      {purchase !== null && <PurchaseProperties purchase={purchase} />}
      <DescriptionItem term="From">
        <TextLink to={to('wallets', payment.from)}>
          <WalletText address={payment.from} />
        </TextLink>{' '}
        <CodeText text={payment.from} what="the wallet address" isShort />
      </DescriptionItem>
      <DescriptionItem term="To">
        <RecipientAddress address={payment.to} />
      </DescriptionItem>
      {payment.memo !== null && (
        <DescriptionItem term="Memo">
          <bdi>{payment.memo}</bdi>
        </DescriptionItem>
      )}
      <DescriptionItem term="Allowed by">
        {grant === null ? (
          <SignerText signer={payment.signed_by} />
        ) : (
          <>
            <bdi>{grant.activated_by ?? 'Server operator'}</bdi>, under{' '}
            <TextLink to={to('grants', grant.id)}>the grant</TextLink>
            {grant.activated_at !== null && (
              <>
                {' '}
                signed <TimeText at={grant.activated_at} />
              </>
            )}
          </>
        )}
      </DescriptionItem>
      <DescriptionItem term="Payment ID">
        <CodeText text={payment.id} what="the payment ID" />
      </DescriptionItem>
      {grant !== null && (
        <DescriptionItem term="Grant ID">
          <CodeText text={grant.id} what="the grant ID" />
        </DescriptionItem>
      )}
      {payment.idempotency_key !== null && (
        <DescriptionItem term="Idempotency key">
          <CodeText text={payment.idempotency_key} what="the idempotency key" />
        </DescriptionItem>
      )}
      {payment.request_id !== null && (
        <DescriptionItem term="Request ID">
          <CodeText text={payment.request_id} what="the request ID" />
        </DescriptionItem>
      )}
    </DescriptionList>
  )
}

/** Who signed a withdrawal. */
function SignerText({ signer }: { readonly signer: PaymentDetail['payment']['signed_by'] }) {
  if (signer === null) return 'An owner of the wallet, who signed this withdrawal'
  return (
    <>
      <bdi>{signer.name}</bdi>
      {signer.former && <span className="text-muted"> (former member)</span>}, who signed this withdrawal as an owner of
      the wallet
    </>
  )
}
