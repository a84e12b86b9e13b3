import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { deliveriesQuery, type DeliveryFilter } from '../../api/deliveries.ts'
import type { Webhook } from '../../api/wire-developers.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../format/webhook-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { addressColumn, DELIVERY_COLUMNS } from './delivery-columns.tsx'
import { DELIVERY_STATUSES, formatDeliveryStatus } from './webhook-status.tsx'

const ANY = 'any'
const TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE]

interface DeliveryLogProps {
  /** Whose deliveries: of these, or of the one. */
  readonly webhooks: readonly Webhook[]
  readonly isOfOne?: boolean
}

/** What was sent, the newest first; what it is narrowed down to stands in the address. */
export function DeliveryLog({ webhooks, isOfOne = false }: DeliveryLogProps) {
  const { slug, mode, to } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const status = DELIVERY_STATUSES.find((known) => known === search.get('status'))
  const type = TYPES.find((known) => known === search.get('type'))
  const only = isOfOne ? webhooks[0]?.id : undefined
  const filter: DeliveryFilter = {
    ...(only === undefined ? {} : { webhook: only }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
  }
  const query = useInfiniteQuery(deliveriesQuery(slug, mode, filter))
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries)
  const isFiltered = status !== undefined || type !== undefined
  const narrow = (name: string, value: string) => {
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
  const columns = isOfOne ? DELIVERY_COLUMNS : [...DELIVERY_COLUMNS, addressColumn(webhooks)]
  return (
    <Section title="Deliveries" lead="Each event on its way to an endpoint, with every attempt and what came back.">
      <div className="grid grid-cols-2 gap-3 sm:flex">
        <div className="min-w-0 sm:w-60">
          <SelectField
            label="Status"
            value={status ?? ANY}
            choices={[
              { value: ANY, text: 'Any status' },
              ...DELIVERY_STATUSES.map((value) => ({ value, text: formatDeliveryStatus(value) })),
            ]}
            onChange={(value) => narrow('status', value)}
          />
        </div>
        <div className="min-w-0 sm:w-56">
          <SelectField
            label="Event"
            value={type ?? ANY}
            choices={[{ value: ANY, text: 'Any kind' }, ...TYPES.map((value) => ({ value, text: value }))]}
            onChange={(value) => narrow('type', value)}
          />
        </div>
      </div>
      {deliveries === undefined && <QueryState error={query.error} onRetry={query.refetch} />}
      {deliveries?.length === 0 &&
        (isFiltered ? (
          <EmptyState
            title="No such delivery"
            action={
              <TextLink to="?" replace preventScrollReset>
                Show all deliveries
              </TextLink>
            }
          >
            Nothing that was sent is like this.
          </EmptyState>
        ) : (
          <EmptyState title="Nothing was sent yet">
            The next event goes out by itself. To see now whether it arrives, send a test event from an endpoint’s page.
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
