import { useQuery } from '@tanstack/react-query'
import { useId, useState, type ReactNode } from 'react'
import type { PaymentSort } from '@bursar/server/src/console/contract/payments.ts'
import { agentsQuery, recipientsQuery, walletsQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { ChevronIcon } from '../../components/chevron-icon.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { capitalize } from '../../format/refusal-text.ts'
import { formatWalletChoice } from '../../format/wallet-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { reasonsOf, SORTS, type FieldName, type KindFilter, type PaymentSearch } from './payment-search.ts'
import { TypedField } from './typed-field.tsx'

interface PaymentFiltersProps {
  readonly search: PaymentSearch
  readonly onChange: (name: FieldName | 'sort' | 'group', value: string) => void
  readonly onClear: () => void
}

const SEARCH_CHARS_MAX = 200

const ALL = { value: '', text: 'All' }

const KIND_TEXTS: Readonly<Record<KindFilter, string>> = {
  transfer: 'Payments',
  x402: 'Purchases',
  undelivered: 'Paid, not delivered',
  withdrawal: 'Withdrawals',
}
const KIND_CHOICES = [ALL, ...Object.entries(KIND_TEXTS).map(([value, text]) => ({ value, text }))]

const SORT_TEXTS: Readonly<Record<PaymentSort, string>> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  largest: 'Largest first',
  smallest: 'Smallest first',
}
/** The list shows the newest payments first if the URL names no order. */
const SORT_CHOICES = SORTS.map((sort) => ({ value: sort === 'newest' ? '' : sort, text: SORT_TEXTS[sort] }))

const GROUP_CHOICES = [
  { value: '', text: 'Grouped' },
  { value: 'none', text: 'Each request' },
]

/** The search and the filters of the list. They are in the URL, so that a link shows the same list. */
export function PaymentFilters({ search, onChange, onClear }: PaymentFiltersProps) {
  const { view, fields, filterCount, sort, refusals } = search
  const [isOpen, setOpen] = useState(false)
  const panel = useId()
  const isRefused = view === 'refused'
  const clear = filterCount === 0 ? null : <Button onClick={onClear}>Clear filters</Button>
  return (
    <div className="grid gap-3">
      <div
        className={`grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2 ${filterCount === 0 ? 'lg:grid-cols-1' : ''}`}
      >
        <TypedField
          isSearch
          name="q"
          type="search"
          label="Search"
          placeholder={`Name, amount (>100), ${isRefused ? '' : 'transaction, '}address, memo, ID …`}
          maxLength={SEARCH_CHARS_MAX}
          value={fields.q}
          onChange={(value) => onChange('q', value)}
        />
        <span className="lg:hidden">
          <Button aria-expanded={isOpen} aria-controls={panel} onClick={() => setOpen(!isOpen)}>
            Filters{filterCount > 0 && ` (${filterCount})`}
            <ChevronIcon className={`size-3 ${isOpen ? 'rotate-180' : ''}`} />
          </Button>
        </span>
        {clear !== null && <span className="hidden lg:block">{clear}</span>}
      </div>
      <div
        id={panel}
        className={`${isOpen ? 'grid' : 'hidden lg:grid'} grid-cols-1 items-start gap-3 min-[22.5rem]:grid-cols-2 lg:grid-cols-5`}
      >
        <ObjectFields search={search} onChange={onChange} />
        {isRefused ? (
          <SelectField
            label="Show"
            value={refusals.group ?? ''}
            choices={GROUP_CHOICES}
            onChange={(value) => onChange('group', value)}
          />
        ) : (
          <SelectField
            label="Sort"
            value={sort === 'newest' ? '' : sort}
            choices={SORT_CHOICES}
            onChange={(value) => onChange('sort', value)}
          />
        )}
        <AmountFields search={search} onChange={onChange} />
        <DateFields search={search} onChange={onChange} />
        {clear !== null && <p className="lg:hidden">{clear}</p>}
      </div>
    </div>
  )
}

type FieldsProps = Pick<PaymentFiltersProps, 'search' | 'onChange'>

/** The fields whose values are chosen from a list. */
function ObjectFields({ search: { view, fields }, onChange }: FieldsProps) {
  const { slug, mode } = useWorkspace()
  const { data: agents = [] } = useQuery(agentsQuery(slug, mode))
  const { data: wallets = [] } = useQuery(walletsQuery(slug, mode))
  const { data: recipients = [] } = useQuery(recipientsQuery(slug, mode))
  const reasons = Object.entries(reasonsOf(view))
  const field = (name: FieldName, label: string, choices: readonly Choice[]): ReactNode => (
    <SelectField
      label={label}
      value={fields[name]}
      // Payments of a deleted agent or to an address without a name can still be filtered.
      choices={[ALL, ...withChosen(choices, fields[name])]}
      onChange={(value) => onChange(name, value)}
    />
  )
  return (
    <>
      {view !== 'refused' && (
        <SelectField
          label="Kind"
          value={fields.kind}
          choices={KIND_CHOICES}
          onChange={(value) => onChange('kind', value)}
        />
      )}
      {field(
        'agent',
        'Agent',
        agents.map(({ id }) => ({ value: id, text: id })),
      )}
      {field(
        'wallet',
        'Wallet',
        wallets.map((wallet) => ({ value: wallet.address, text: formatWalletChoice(wallet) })),
      )}
      {field(
        'recipient',
        'Recipient',
        recipients.map(({ address, label }) => ({ value: address, text: label })),
      )}
      {reasons.length > 0 &&
        field(
          'reason',
          'Reason',
          reasons.map(([value, text]) => ({ value, text: capitalize(text) })),
        )}
    </>
  )
}

function AmountFields({ search: { fields }, onChange }: FieldsProps) {
  return (['min', 'max'] as const).map((name) => (
    <TypedField
      key={name}
      name={name}
      label={name === 'min' ? 'At least' : 'At most'}
      unit="USDC"
      inputMode="decimal"
      value={fields[name]}
      onChange={(value) => onChange(name, value)}
    />
  ))
}

function DateFields({ search: { fields }, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        name="from"
        type="date"
        label="From date"
        value={fields.from}
        max={fields.to}
        onChange={(event) => onChange('from', event.currentTarget.value)}
      />
      <TextField
        name="to"
        type="date"
        label="To date"
        value={fields.to}
        min={fields.from}
        onChange={(event) => onChange('to', event.currentTarget.value)}
      />
    </>
  )
}

interface Choice {
  readonly value: string
  readonly text: string
}

/** Adds the chosen value if it is not in the list. The case of addresses does not matter. */
function withChosen(choices: readonly Choice[], chosen: string): readonly Choice[] {
  if (chosen === '' || choices.some(({ value }) => value === chosen)) return choices
  const isAddress = /^0x[0-9a-f]{40}$/i.test(chosen)
  const same = isAddress ? choices.find(({ value }) => value.toLowerCase() === chosen.toLowerCase()) : undefined
  return [...choices, { value: chosen, text: same?.text ?? (isAddress ? formatShortAddress(chosen) : chosen) }]
}
