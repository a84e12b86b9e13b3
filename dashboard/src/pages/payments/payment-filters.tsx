import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef } from 'react'
import { agentsQuery, walletsQuery } from '../../api/queries.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formatWalletChoice } from '../../format/wallet-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { KindFilter, PaymentSearch } from './payment-search.ts'

interface PaymentFiltersProps {
  readonly search: PaymentSearch
  readonly onChange: (name: string, value: string) => void
}

/** Date fields are wide: they are side by side only if there is enough room. */
const DATE_CELL = 'col-span-2 min-w-0 min-[22.5rem]:col-span-1'

const ALL = { value: '', text: 'All' }

const KIND_TEXTS: Readonly<Record<KindFilter, string>> = {
  transfer: 'Payments',
  x402: 'Purchases',
  undelivered: 'Paid, not delivered',
  withdrawal: 'Withdrawals',
}
const KIND_CHOICES = [ALL, ...Object.entries(KIND_TEXTS).map(([value, text]) => ({ value, text }))]

/** The filters of the list. They are in the URL, so that a link shows the same list. */
export function PaymentFilters({ search: { view, filter, fromDay, toDay }, onChange }: PaymentFiltersProps) {
  const { slug, mode } = useWorkspace()
  const { data: agents = [] } = useQuery(agentsQuery(slug, mode))
  const { data: wallets = [] } = useQuery(walletsQuery(slug, mode))
  const agentField = (
    <SelectField
      label="Agent"
      value={filter.agent ?? ''}
      choices={[
        ALL,
        // Payments of a deleted agent can still be filtered by its ID.
        ...withChosen(
          agents.map(({ id }) => ({ value: id, text: id })),
          filter.agent,
        ),
      ]}
      onChange={(value) => onChange('agent', value)}
    />
  )
  if (view === 'refused') return <div className="max-w-64">{agentField}</div>
  return (
    <div className="grid grid-cols-2 items-start gap-3 lg:grid-cols-5 2xl:grid-cols-[minmax(0,2fr)_repeat(5,minmax(0,1fr))]">
      <div className="col-span-2 lg:col-span-5 2xl:col-span-1">
        <SearchField value={filter.q ?? ''} onChange={(value) => onChange('q', value)} />
      </div>
      <div className="col-span-2 min-w-0 lg:col-span-1">
        <SelectField
          label="Kind"
          value={filter.kind ?? ''}
          choices={KIND_CHOICES}
          onChange={(value) => onChange('kind', value)}
        />
      </div>
      {agentField}
      <SelectField
        label="Wallet"
        value={filter.wallet ?? ''}
        choices={[
          ALL,
          ...withChosen(
            wallets.map((wallet) => ({ value: wallet.address, text: formatWalletChoice(wallet) })),
            filter.wallet,
          ),
        ]}
        onChange={(value) => onChange('wallet', value)}
      />
      <div className={DATE_CELL}>
        <TextField
          name="from"
          type="date"
          label="From date"
          value={fromDay}
          max={toDay}
          onChange={(event) => onChange('from', event.currentTarget.value)}
        />
      </div>
      <div className={DATE_CELL}>
        <TextField
          name="to"
          type="date"
          label="To date"
          value={toDay}
          min={fromDay}
          onChange={(event) => onChange('to', event.currentTarget.value)}
        />
      </div>
    </div>
  )
}

const TYPING_PAUSE_MS = 350
const SEARCH_CHARS_MAX = 200

/** Searches when the user stops typing or presses Enter. */
function SearchField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const form = useRef<HTMLFormElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const stop = () => {
    if (timer.current !== null) clearTimeout(timer.current)
    timer.current = null
  }
  const show = useEffectEvent((text: string) => {
    const field = form.current?.elements.namedItem('q')
    // While the user types, the text in the field is newer than the text in the URL, so it is kept.
    if (field instanceof HTMLInputElement && timer.current === null && field.value.trim() !== text) field.value = text
  })
  useEffect(() => show(value), [value])
  const end = useEffectEvent(() => stop())
  useEffect(() => () => end(), [])

  const search = (text: string) => {
    stop()
    onChange(text.trim())
  }
  return (
    <form
      ref={form}
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('q')
        if (typeof text === 'string') search(text)
      }}
    >
      <TextField
        name="q"
        type="search"
        label="Search"
        placeholder="ID, transaction, address, idempotency key, memo or website"
        maxLength={SEARCH_CHARS_MAX}
        autoComplete="off"
        spellCheck={false}
        defaultValue={value}
        onChange={(event) => {
          const text = event.currentTarget.value
          stop()
          timer.current = setTimeout(() => search(text), TYPING_PAUSE_MS)
        }}
      />
    </form>
  )
}

interface Choice {
  readonly value: string
  readonly text: string
}

/** Adds the chosen value if it is not in the list. */
function withChosen(choices: readonly Choice[], chosen: string | undefined): readonly Choice[] {
  if (chosen === undefined || choices.some(({ value }) => value === chosen)) return choices
  return [...choices, { value: chosen, text: chosen }]
}
