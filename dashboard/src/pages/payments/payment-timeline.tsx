import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { Timeline, TimelineStep, type StepState } from '../../components/timeline.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ChainText } from './chain-text.tsx'
import { CredentialText } from './credential-text.tsx'
import { DeliveryStep } from './delivery-step.tsx'
import { FailureText } from './failure-text.tsx'
import { LimitList } from './limit-list.tsx'
import { PaymentEvents } from './payment-events.tsx'
import { webhookProgress, progressOf } from './payment-progress.ts'
import { PendingText } from './pending-text.tsx'

const WEBHOOK_TITLES: Readonly<Record<StepState, string>> = {
  done: 'Webhooks sent',
  current: 'Sending webhooks',
  upcoming: 'Webhooks',
  failed: 'Webhooks not delivered',
  skipped: 'No webhooks sent',
}

/** The steps that a payment has gone through, and the steps still to come. */
export function PaymentTimeline({ detail }: { readonly detail: PaymentDetail }) {
  const { to } = useWorkspace()
  const { payment, events } = detail
  const { agent_id, credential, created_at, accepted_at, settled_at, tx_hash, block_number } = payment
  const { signed, seen, settled } = progressOf(payment)
  const asked = <TimeText at={created_at} hasSeconds />
  const ended = settled_at === null ? undefined : <TimeText at={settled_at} hasSeconds />
  return (
    <Timeline label="Timeline">
      <TimelineStep state="done" title="Requested" at={asked}>
        <p>
          {agent_id === null ? (
            <>
              <bdi>{payment.signed_by?.name ?? 'An owner of the wallet'}</bdi> signed this withdrawal. The limits of
              grants do not apply to it.
            </>
          ) : (
            <>
              By the agent <TextLink to={to('agents', agent_id)}>{agent_id}</TextLink>, with{' '}
              <CredentialText credential={credential} />.
            </>
          )}
        </p>
      </TimelineStep>
      {agent_id !== null && (
        <>
          <TimelineStep state="done" title="Limits checked">
            <LimitList detail={detail} />
          </TimelineStep>
          <TimelineStep state="done" title="Reserved">
            <p>
              <AmountText usdc={payment.amount_usdc} /> reserved. It counts against the 24-hour limit even before the
              payment is signed.
            </p>
          </TimelineStep>
        </>
      )}
      <TimelineStep
        state={signed}
        title={signed === 'failed' ? 'Not signed by the enclave' : 'Signed by the enclave'}
        at={signed === 'failed' ? ended : accepted_at === null ? undefined : <TimeText at={accepted_at} hasSeconds />}
      >
        {signed === 'failed' && <FailureText detail={detail} />}
        {signed === 'current' && payment.pending_reason === null && <p>Waiting for the enclave’s response.</p>}
        {signed === 'current' && <PendingText detail={detail} />}
        {signed === 'done' && (
          <p>
            {agent_id === null
              ? 'The enclave is the system that holds the wallet’s key. It checked the owner’s signature first, then signed.'
              : 'The enclave checked the per-payment limit, the recipient, the USDC contract and the end date again, then signed.'}
          </p>
        )}
      </TimelineStep>
      <DeliveryStep detail={detail} />
      <TimelineStep
        state={seen}
        title={seen === 'failed' ? 'Not included in a block' : 'Included in a block'}
        at={seen === 'failed' ? ended : undefined}
      >
        {seen === 'failed' && <FailureText detail={detail} />}
        {seen === 'current' && payment.pending_reason === null && (
          <p>
            {payment.kind === 'x402'
              ? 'The seller decides when it takes the money. If it does not take the money in time, the signature expires, and the amount is no longer reserved.'
              : 'Waiting to be included in a block.'}
          </p>
        )}
        {seen === 'current' && <PendingText detail={detail} />}
        {tx_hash !== null && <ChainText hash={tx_hash} block={block_number} />}
      </TimelineStep>
      <TimelineStep
        state={settled}
        title={settled === 'failed' ? 'Failed' : 'Confirmed'}
        at={settled === 'done' || settled === 'failed' ? ended : undefined}
      >
        {settled === 'failed' && <FailureText detail={detail} />}
        {settled === 'current' && (
          <p>The transaction is in a block. It will be confirmed after enough further blocks.</p>
        )}
        {settled === 'done' && <p>The recipient has received the USDC.</p>}
      </TimelineStep>
      {agent_id !== null && (
        <TimelineStep state={webhookProgress(detail)} title={WEBHOOK_TITLES[webhookProgress(detail)]}>
          <PaymentEvents events={events} />
        </TimelineStep>
      )}
    </Timeline>
  )
}
