import type { PaymentDetail } from '../../api/wire-spending.ts'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { RecipientAddress } from './recipient-address.tsx'

/** All that a payment is made of, and who allowed it. */
export function PaymentProperties({ detail: { payment, grant } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  return (
    <DescriptionList>
      <DescriptionItem term="From">
        <TextLink to={to('wallets', payment.from)}>{grant.wallet_name}</TextLink>{' '}
        <CodeText text={payment.from} what="the wallet’s address" isShort />
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
        <bdi>{grant.activated_by ?? 'Whoever runs this server'}</bdi>, with{' '}
        <TextLink to={to('grants', grant.id)}>the grant</TextLink>
        {grant.activated_at !== null && (
          <>
            {' '}
            of <TimeText at={grant.activated_at} />
          </>
        )}
      </DescriptionItem>
      <DescriptionItem term="Payment">
        <CodeText text={payment.id} what="the payment’s id" />
      </DescriptionItem>
      <DescriptionItem term="Grant">
        <CodeText text={grant.id} what="the grant’s id" />
      </DescriptionItem>
      {payment.idempotency_key !== null && (
        <DescriptionItem term="Idempotency key">
          <CodeText text={payment.idempotency_key} what="the idempotency key" />
        </DescriptionItem>
      )}
    </DescriptionList>
  )
}
