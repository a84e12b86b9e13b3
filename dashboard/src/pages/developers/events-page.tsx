import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '@bursar/server/src/domain/events/event.ts'
import { eventsQuery } from '../../api/queries.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { parseEventSubject } from '../../format/parse-event-subject.ts'

const ANY = 'any'
const TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE]

export function EventsPage() {
  const { slug, name, mode, to } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const type = TYPES.find((known) => known === search.get('type'))
  const query = useInfiniteQuery(eventsQuery(slug, mode, type === undefined ? {} : { type }))
  const events = query.data?.pages.flatMap((page) => page.events)
  return (
    <>
      <PageHeading
        title="Events"
        breadcrumb={name}
        lead="Payments, deposits and changes to grants in the last 30 days, latest first. Webhooks and GET /v1/events deliver the same events."
      />
      <div className="w-full sm:w-60">
        <SelectField
          label="Event type"
          value={type ?? ANY}
          choices={[{ value: ANY, text: 'Any type' }, ...TYPES.map((value) => ({ value, text: value }))]}
          onChange={(value) => setSearch(value === ANY ? {} : { type: value }, { replace: true })}
        />
      </div>
      {events === undefined && <QueryState error={query.error} onRetry={query.refetch} lines={6} />}
      {events?.length === 0 &&
        (type === undefined ? (
          <EmptyState
            title="No events yet"
            action={<TextLink to={to('developers', 'examples')}>Send a first payment</TextLink>}
          >
            Payments, deposits and grants are listed here as they happen.
          </EmptyState>
        ) : (
          <EmptyState
            title="No events found"
            action={
              <TextLink to="?" replace>
                Show all events
              </TextLink>
            }
          >
            There was no {type} event in the last 30 days.
          </EmptyState>
        ))}
      {events !== undefined && events.length > 0 && (
        <DataTable
          caption="Events"
          columns={COLUMNS}
          items={events}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => to('developers', 'events', id)}
        />
      )}
      <LoadMore query={query} />
    </>
  )
}

const COLUMNS: readonly Column<EventEnvelope>[] = [
  { title: 'Type', render: ({ type }) => <span className="font-mono text-[0.875rem]">{type}</span> },
  { title: 'Subject', isLong: true, render: (event) => <EventSubject event={event} /> },
  {
    title: 'Created',
    render: ({ created_at }) => (
      <span className="text-sm text-muted">
        <TimeText at={created_at} isRelative />
      </span>
    ),
  },
  {
    title: 'ID',
    isSecondary: true,
    render: ({ id }) => <code className="font-mono text-[0.8125rem] text-muted">{id}</code>,
  },
]

/** The subject of an event, for a table cell. */
function EventSubject({ event }: { readonly event: EventEnvelope }) {
  const subject = parseEventSubject(event)
  if (subject === null || subject.kind === 'webhook') return <span className="text-muted">–</span>
  if (subject.kind === 'grant') {
    return (
      <TruncatedText title={subject.agentId}>
        <bdi>{subject.agentId}</bdi>
      </TruncatedText>
    )
  }
  return <AmountText usdc={subject.amountUsdc} />
}
