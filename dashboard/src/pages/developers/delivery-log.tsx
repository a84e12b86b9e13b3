import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { deliveriesQuery, type DeliveryFilter } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '@bursar/server/src/domain/events/event.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { endpointColumn, LOG_COLUMNS } from './delivery-columns.tsx'
import { DELIVERY_STATUSES, formatDeliveryStatus } from './webhook-status.tsx'

const ANY = 'any'
const TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE]

interface DeliveryLogProps {
  /** The endpoints whose deliveries are shown. */
  readonly webhooks: readonly Webhook[]
  readonly isSingle?: boolean
}

/** Deliveries, newest first. The filters are in the URL. */
export function DeliveryLog({ webhooks, isSingle = false }: DeliveryLogProps) {
  const { slug, mode, to } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const status = DELIVERY_STATUSES.find((known) => known === search.get('status'))
  const type = TYPES.find((known) => known === search.get('type'))
  const only = isSingle ? webhooks[0]?.id : undefined
  const filter: DeliveryFilter = {
    ...(only === undefined ? {} : { webhook: only }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
  }
  const query = useInfiniteQuery(deliveriesQuery(slug, mode, filter))
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries)
  const isFiltered = status !== undefined || type !== undefined
  const setFilter = (name: string, value: string) => {
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        if (value === ANY) after.delete(name)
        else after.set(name, value)
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  }
  const columns = isSingle ? LOG_COLUMNS : [...LOG_COLUMNS, endpointColumn(webhooks)]
  return (
    <Section title="Deliveries" lead="Events sent to your endpoints, with every attempt and its response.">
      <div className="grid grid-cols-2 gap-3 sm:flex">
        <div className="min-w-0 sm:w-60">
          <SelectField
            label="Status"
            value={status ?? ANY}
            choices={[
              { value: ANY, text: 'Any status' },
              ...DELIVERY_STATUSES.map((value) => ({ value, text: formatDeliveryStatus(value) })),
            ]}
            onChange={(value) => setFilter('status', value)}
          />
        </div>
        <div className="min-w-0 sm:w-56">
          <SelectField
            label="Event type"
            value={type ?? ANY}
            choices={[{ value: ANY, text: 'Any type' }, ...TYPES.map((value) => ({ value, text: value }))]}
            onChange={(value) => setFilter('type', value)}
          />
        </div>
      </div>
      {deliveries === undefined && <QueryState error={query.error} onRetry={query.refetch} />}
      {deliveries?.length === 0 &&
        (isFiltered ? (
          <EmptyState
            title="No deliveries found"
            action={
              <TextLink to="?" replace preventScrollReset>
                Show all deliveries
              </TextLink>
            }
          >
            No delivery matches these filters.
          </EmptyState>
        ) : (
          <EmptyState title="No deliveries yet">
            The next event is sent automatically. To test an endpoint now, open it and send a test event.
          </EmptyState>
        ))}
      {deliveries !== undefined && deliveries.length > 0 && (
        <DataTable
          caption="Deliveries"
          columns={columns}
          items={deliveries}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => to('developers', 'deliveries', id)}
        />
      )}
      <LoadMore query={query} />
    </Section>
  )
}
