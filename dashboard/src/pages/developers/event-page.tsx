import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'
import { eventQuery, webhooksQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { CodeLink } from '../../components/code-link.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { parseEventSubject } from '../../format/parse-event-subject.ts'
import { ItemState } from '../workspace/item-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { endpointColumn, DELIVERY_COLUMNS } from './delivery-columns.tsx'
import { JsonBody } from './json-body.tsx'

export function EventPage() {
  const { id = '' } = useParams()
  const { slug, mode, to } = useWorkspace()
  const { data, error, refetch } = useQuery(eventQuery(slug, mode, id))
  const breadcrumb = <TextLink to={to('developers', 'events')}>Events</TextLink>
  if (data === undefined) {
    return (
      <>
        <PageHeading title="Event" breadcrumb={breadcrumb} />
        <ItemState
          noun="event"
          error={error}
          onRetry={refetch}
          lines={6}
          find={(other) =>
            request('GET /console/workspaces/:slug/events/:id', { params: { slug, id }, query: { mode: other } })
          }
        />
      </>
    )
  }
  const { event, body, deliveries } = data
  return (
    <>
      <PageHeading title={event.type} breadcrumb={breadcrumb} />
      <DescriptionList>
        <Subject event={event} />
        <DescriptionItem term="Created">
          <TimeText at={event.created_at} isExact />
        </DescriptionItem>
        <DescriptionItem term="ID">
          <CodeText text={event.id} what="the ID" />
        </DescriptionItem>
      </DescriptionList>
      <Section title="Request body">
        <JsonBody what="JSON" text={body} />
      </Section>
      <EventDeliveries deliveries={deliveries} />
    </>
  )
}

function Subject({ event }: { readonly event: EventEnvelope }) {
  const { to } = useWorkspace()
  const subject = parseEventSubject(event)
  if (subject === null) return null
  if (subject.kind === 'payment') {
    return (
      <DescriptionItem term="Payment">
        <AmountText usdc={subject.amountUsdc} /> · <CodeLink to={to('payments', subject.id)} text={subject.id} />
      </DescriptionItem>
    )
  }
  if (subject.kind === 'deposit') {
    return (
      <DescriptionItem term="Deposit">
        <AmountText usdc={subject.amountUsdc} /> ·{' '}
        <CodeLink to={to('wallets', subject.wallet)} text={subject.wallet} isShort />
      </DescriptionItem>
    )
  }
  if (subject.kind === 'grant') {
    return (
      <DescriptionItem term="Grant">
        For <TextLink to={to('agents', subject.agentId)}>{subject.agentId}</TextLink> ·{' '}
        <CodeLink to={to('grants', subject.id)} text={subject.id} />
      </DescriptionItem>
    )
  }
  return (
    <DescriptionItem term="Endpoint">
      <CodeLink to={to('developers', 'webhooks', subject.id)} text={subject.id} />
    </DescriptionItem>
  )
}

function EventDeliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const { slug, mode, to } = useWorkspace()
  const { data: webhooks } = useQuery(webhooksQuery(slug, mode))
  const columns = [endpointColumn(webhooks ?? [], false), ...DELIVERY_COLUMNS.filter(({ title }) => title !== 'Event')]
  return (
    <Section title="Deliveries">
      {deliveries.length === 0 ? (
        <EmptyState
          title="This event was not sent"
          action={<TextLink to={to('developers', 'webhooks')}>Go to webhooks</TextLink>}
        >
          No webhook endpoint was subscribed to this event type at that time.
        </EmptyState>
      ) : (
        <DataTable
          caption="Deliveries of this event"
          columns={columns}
          items={deliveries}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => to('developers', 'deliveries', id)}
        />
      )}
    </Section>
  )
}
