import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { JsonBody } from './json-body.tsx'

/** The body of the request, and an explanation of its headers. */
export function DeliveryRequest({ delivery, body }: { readonly delivery: Delivery; readonly body: string | null }) {
  const { to } = useWorkspace()
  return (
    <Section title="Request" lead="A POST request. Every attempt sends the same body.">
      {body === null ? (
        <p className="text-muted">The event is older than 30 days, so the body is no longer stored.</p>
      ) : (
        <JsonBody what="Request body" text={body} />
      )}
      <DescriptionList>
        <DescriptionItem term="Service-Signature">
          A timestamp, and an HMAC of the timestamp and the body. The key is the signing secret.{' '}
          <TextLink to={to('developers', 'examples')}>How to verify it</TextLink>
        </DescriptionItem>
        <DescriptionItem term="Service-Event-Id">
          <code className="font-mono text-[0.875em] break-all">{delivery.event_id}</code>, the same for every attempt,
          also when the event is resent. Use it to ignore duplicates.
        </DescriptionItem>
        <DescriptionItem term="Service-Event-Type">
          <code className="font-mono text-[0.875em]">{delivery.event_type}</code>
        </DescriptionItem>
        <DescriptionItem term="Service-Delivery-Attempt">The number of the attempt, starting at 1.</DescriptionItem>
      </DescriptionList>
    </Section>
  )
}
