import type { PaymentEvent } from '@bursar/server/src/console/contract/payments.ts'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { DeliveryStatus } from '../developers/webhook-status.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The events of a payment and their webhook deliveries. */
export function PaymentEvents({ events }: { readonly events: readonly PaymentEvent[] }) {
  const { to } = useWorkspace()
  if (events.length === 0) return <p>The events are no longer available. They are kept for 30 days.</p>
  return (
    <ul className="grid gap-3">
      {events.map(({ id, type, created_at, deliveries }) => (
        <li key={id} className="grid gap-1.5">
          <p className="flex flex-wrap items-baseline justify-between gap-x-6">
            <TextLink to={to('developers', 'events', id)}>
              <code className="font-mono text-[0.9em]">{type}</code>
            </TextLink>
            <span className="text-sm">
              <TimeText at={created_at} hasSeconds />
            </span>
          </p>
          {deliveries.length === 0 && (
            <p>
              No webhook endpoint was subscribed to this event.{' '}
              <TextLink to={to('developers', 'webhooks')}>Go to webhooks</TextLink>
            </p>
          )}
          {deliveries.length > 0 && (
            <ul className="grid gap-1.5">
              {deliveries.map((delivery) => (
                <li key={delivery.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <DeliveryStatus delivery={delivery} />
                  <TextLink to={to('developers', 'deliveries', delivery.id)}>
                    <span className="font-mono text-[0.9em] font-normal break-all">{delivery.url}</span>
                  </TextLink>
                  {delivery.trigger === 'replay' && <span className="text-sm">resent</span>}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  )
}
