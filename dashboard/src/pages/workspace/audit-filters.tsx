import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { membersQuery } from '../../api/queries.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { listActionChoices } from '../../format/audit-text.ts'
import { withParam } from '../../navigation/with-param.ts'
import type { AuditSearch } from './audit-search.ts'
import { useWorkspace } from './use-workspace.ts'

const ACTOR_KIND_CHOICES = [
  { value: 'user', text: 'All people' },
  { value: 'key', text: 'All API keys' },
  { value: 'client', text: 'All applications' },
  { value: 'operator', text: 'Server operator' },
]
const ACTION_CHOICES = [{ value: '', text: 'Everything' }, ...listActionChoices()]

interface AuditFiltersProps {
  readonly search: AuditSearch
  /** The name of the chosen actor. Undefined while the entries are loading, or if there are none. */
  readonly actorName: string | undefined
}

/** The filters of the audit log. They are in the URL, so that a link shows the same entries. */
export function AuditFilters({ search: { filter, fromDay, toDay }, actorName }: AuditFiltersProps) {
  const { slug } = useWorkspace()
  const [, setParams] = useSearchParams()
  const { data: members = [] } = useQuery(membersQuery(slug))
  const change = (name: string, value: string) =>
    setParams((current) => withParam(current, name, value), { replace: true, preventScrollReset: true })
  const actors = [
    { value: '', text: 'Anyone' },
    ...ACTOR_KIND_CHOICES,
    ...members.map((member) => ({ value: member.user_id, text: member.name })),
  ]
  const { actor = '' } = filter
  // The entries have links to those of a former member, a key or an application.
  const others = actors.some(({ value }) => value === actor) ? [] : [{ value: actor, text: actorName ?? 'One actor' }]
  return (
    <div className="grid grid-cols-1 items-start gap-3 min-[22.5rem]:grid-cols-2 lg:grid-cols-4">
      <SelectField
        label="Who"
        value={actor}
        choices={[...actors, ...others]}
        onChange={(value) => change('actor', value)}
      />
      <SelectField
        label="What"
        value={filter.action ?? ''}
        choices={ACTION_CHOICES}
        onChange={(value) => change('action', value)}
      />
      <TextField
        name="from"
        type="date"
        label="From date"
        value={fromDay}
        max={toDay}
        onChange={(event) => change('from', event.currentTarget.value)}
      />
      <TextField
        name="to"
        type="date"
        label="To date"
        value={toDay}
        min={fromDay}
        onChange={(event) => change('to', event.currentTarget.value)}
      />
    </div>
  )
}
