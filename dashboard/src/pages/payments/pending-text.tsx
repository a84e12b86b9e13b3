import type { ReactNode } from 'react'
import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Explains why a payment is still pending and what to do. Empty if there is no problem. */
export function PendingText({ detail: { payment } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  const wallet = <TextLink to={to('wallets', payment.from)}>the wallet</TextLink>
  const isWithdrawal = payment.kind === 'withdrawal'
  const counted = isWithdrawal
    ? 'Until the outcome is known, the amount stays reserved.'
    : 'Until the outcome is known, the amount counts against the 24-hour limit.'
  switch (payment.pending_reason) {
    case 'not_sent':
      if (isWithdrawal) {
        return (
          <Prose>
            The enclave did not send this withdrawal. The server’s log contains the reason. The withdrawal will fail
            soon. Then you can start a new one.
          </Prose>
        )
      }
      return (
        <Prose>
          The enclave did not send this payment. The server’s log contains the reason. The agent can retry with the same
          idempotency key. Without a retry, the payment fails ten minutes after it was requested.
        </Prose>
      )
    case 'outcome_unknown':
      return (
        <Prose>
          The enclave’s response was lost, so Bursar does not know yet whether the payment was sent. It is looking up
          the payment. {counted}
        </Prose>
      )
    case 'hash_unknown':
      return <Prose>The enclave accepted the payment. The payment’s transaction is not known yet. {counted}</Prose>
    case 'reported_failed':
    case 'reported_reverted':
      return (
        <Prose>
          The enclave reports that this payment failed. But a signed payment can still be included in a block, so Bursar
          is searching the blockchain for it. {counted} Check the balance of {wallet} before you pay again.
        </Prose>
      )
    case 'reported_replaced':
      return (
        <Prose>
          The enclave reports that another transaction replaced this one. Bursar is searching the blockchain for the
          payment. {counted}
        </Prose>
      )
    case 'transfer_not_found':
      return (
        <Prose>
          The transaction that the enclave named does not contain this payment. Bursar is searching the blockchain for
          the payment. {counted} Ask the server operator to check the server’s log.
        </Prose>
      )
    case null:
      return null
  }
}

function Prose({ children }: { readonly children: ReactNode }) {
  return <p className="max-w-prose">{children}</p>
}
