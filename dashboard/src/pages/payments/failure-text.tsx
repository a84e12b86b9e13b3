import type { ReactNode } from 'react'
import type { PaymentDetail } from '../../api/wire-spending.ts'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Why a payment failed, in plain words, and what to do about it. */
export function FailureText({ detail: { payment } }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  const wallet = <TextLink to={to('wallets', payment.from)}>the wallet</TextLink>
  const grant = <TextLink to={to('grants', payment.grant_id)}>the grant</TextLink>
  const again = 'The amount no longer counts against the cap. To pay after all, ask again with a new idempotency key.'
  switch (payment.failure_code) {
    case 'enclave_refused':
      return (
        <Words>
          The enclave holds the wallet’s keys and checks the policy and the balance for itself. It refused to sign, so
          no money moved. {again} If it refuses once more, look at the balance of {wallet}, and at {grant}: a
          replacement writes its policy anew.
        </Words>
      )
    case 'never_received':
      return (
        <Words>
          The request never arrived at the enclave, which signs: the connection broke, or Bursar was stopped. No money
          moved. {again}
        </Words>
      )
    case 'never_mined':
      return (
        <Words>
          The enclave signed it, then gave up: the chain took it into no block. No money moved. {again} Look at the
          balance of {wallet} first.
        </Words>
      )
    case 'replaced':
      return (
        <Words>
          Another transaction of the wallet took this one’s place on the blockchain, so this one can never arrive. No
          money moved. {again} Look at {wallet} first.
        </Words>
      )
    case 'reverted':
      return (
        <Words>
          The chain took the transaction into a block and undid it, so no money moved. Most often the wallet held too
          little USDC at that moment: look at {wallet}. {again}
        </Words>
      )
    case 'transfer_missing':
      return (
        <Words>
          The transaction succeeded, but it holds no transfer of this amount to this recipient. Look at the transaction
          before you pay again, and tell whoever runs this server: it should never happen.
        </Words>
      )
    case null:
      return <Words>Nothing more is known of the reason.</Words>
  }
}

function Words({ children }: { readonly children: ReactNode }) {
  return <p className="max-w-prose">{children}</p>
}
