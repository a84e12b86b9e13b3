import type { Delivery } from '../../api/wire-developers.ts'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { JsonBody } from './json-body.tsx'

/** What was sent: the headers by what they say, and the body. */
export function DeliveryRequest({ delivery, body }: { readonly delivery: Delivery; readonly body: string | null }) {
  const { to } = useWorkspace()
  return (
    <Section title="The request" lead="A POST, the same bytes at each attempt.">
      {body === null ? (
        <p className="text-muted">Its event is older than 30 days, and the body is no longer kept.</p>
      ) : (
        <JsonBody what="The body" text={body} />
      )}
      <DescriptionList>
        <DescriptionItem term="Service-Signature">
          The time, and the HMAC of time and body under the signing secret.{' '}
          <TextLink to={to('developers', 'examples')}>How to check it</TextLink>
        </DescriptionItem>
        <DescriptionItem term="Service-Event-Id">
          <code className="font-mono text-[0.875em] break-all">{delivery.event_id}</code>: the same at each attempt and
          replay. Remember it, and skip what you have seen.
        </DescriptionItem>
        <DescriptionItem term="Service-Event-Type">
          <code className="font-mono text-[0.875em]">{delivery.event_type}</code>
        </DescriptionItem>
        <DescriptionItem term="Service-Delivery-Attempt">Which attempt it is, from 1.</DescriptionItem>
      </DescriptionList>
    </Section>
  )
}
