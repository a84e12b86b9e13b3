import type { PaymentDetail } from '../../api/wire-spending.ts'
import { CodeText } from '../../components/code-text.tsx'
import { Fact, Facts } from '../../components/description-list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { PartyText } from './recipient-address.tsx'

/** All that a payment is made of, and who allowed it. */
export function PaymentFacts({ detail: { payment, grant } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  return (
    <Facts>
      <Fact name="From">
        <TextLink to={to('wallets', payment.from)}>{grant.wallet_name}</TextLink>{' '}
        <CodeText text={payment.from} what="the wallet’s address" isShort />
      </Fact>
      <Fact name="To">
        <PartyText address={payment.to} />
      </Fact>
      {payment.memo !== null && (
        <Fact name="Memo">
          <bdi>{payment.memo}</bdi>
        </Fact>
      )}
      <Fact name="Allowed by">
        <bdi>{grant.activated_by ?? 'Whoever runs this server'}</bdi>, with{' '}
        <TextLink to={to('grants', grant.id)}>the grant</TextLink>
        {grant.activated_at !== null && (
          <>
            {' '}
            of <TimeText at={grant.activated_at} />
          </>
        )}
      </Fact>
      <Fact name="Payment">
        <CodeText text={payment.id} what="the payment’s id" />
      </Fact>
      <Fact name="Grant">
        <CodeText text={grant.id} what="the grant’s id" />
      </Fact>
      {payment.idempotency_key !== null && (
        <Fact name="Idempotency key">
          <CodeText text={payment.idempotency_key} what="the idempotency key" />
        </Fact>
      )}
    </Facts>
  )
}
