import type { ReactNode } from 'react'
import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Explains why a payment failed and what to do next. */
export function FailureText({ detail: { payment } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  const wallet = <TextLink to={to('wallets', payment.from)}>the wallet</TextLink>
  const isWithdrawal = payment.kind === 'withdrawal'
  const again = isWithdrawal
    ? 'To try again, start a new withdrawal.'
    : 'The amount no longer counts against the 24-hour limit. To try again, send a new request with a new idempotency key.'
  switch (payment.failure_code) {
    case 'enclave_refused':
      if (payment.grant_id === null) {
        return (
          <Prose>
            The enclave, which holds the wallet’s keys, rejected this withdrawal. No money moved. {again} If it is
            rejected again, check the balance and the owners of {wallet}.
          </Prose>
        )
      }
      return (
        <Prose>
          The enclave, which holds the wallet’s keys, rejected this payment. The enclave makes its own checks against
          the grant. No money moved. {again} If it is rejected again, check the balance of {wallet} and the terms of{' '}
          <TextLink to={to('grants', payment.grant_id)}>the grant</TextLink>, and replace the grant if necessary.
        </Prose>
      )
    case 'never_received':
      return (
        <Prose>
          The enclave, which signs payments, did not send this {isWithdrawal ? 'withdrawal' : 'payment'} in time. It
          could not be reached, it reported an error, or Bursar was stopped. No money moved. {again}
        </Prose>
      )
    case 'replaced':
      return (
        <Prose>
          Another transaction of the wallet replaced this one on the blockchain, so this payment can never be included
          in a block. No money moved. {again} Check {wallet} first.
        </Prose>
      )
    case 'authorization_expired':
      return (
        <Prose>
          The seller did not collect this payment in time, and the signature that it got has expired. No money moved.{' '}
          {again}
        </Prose>
      )
    case 'authorization_canceled':
      return <Prose>The signature that the seller got was canceled on the blockchain. No money moved. {again}</Prose>
    case 'reverted':
      return (
        <Prose>
          The transaction was included in a block but reverted, so no money moved. The usual reason is that the wallet
          did not contain enough USDC at that moment. Check {wallet}. {again}
        </Prose>
      )
    case 'transfer_missing':
      return (
        <Prose>
          The transaction succeeded, but it does not contain a transfer of this amount to this recipient. This should
          never happen. Check the transaction before you pay again, and tell the server operator.
        </Prose>
      )
    case null:
      return <Prose>The reason is not known.</Prose>
  }
}

function Prose({ children }: { readonly children: ReactNode }) {
  return <p className="max-w-prose">{children}</p>
}
