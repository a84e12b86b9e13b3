import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ListedPayment } from '@bursar/server/src/console/contract/payments.ts'
import { formatShortAddress } from '../../format/address.ts'
import { formatAmount } from '../../format/amount.ts'
import { formatDate } from '../../format/date.ts'
import { pathTo } from '../../navigation/paths.ts'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { type SearchableItems, type Target, findTargets } from './find-targets.ts'
import { agentsQuery, grantsQuery, paymentsQuery, recipientsQuery, walletsQuery } from '../../api/queries.ts'

interface CommandPaletteDialogProps {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
}

/** The dialog of the command palette. Its content is mounted while it is open, so the search starts empty each time. */
export function CommandPaletteDialog({ workspace, mode, isOpen, onOpenChange }: CommandPaletteDialogProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 min-h-dvh bg-veil" />
        <Dialog.Popup
          aria-label="Go to a page"
          className="fixed inset-x-0 top-[12vh] mx-auto w-[32rem] max-w-[calc(100vw-2rem)] rounded-2xl border border-line bg-surface p-3 text-ink shadow-lift outline-none"
        >
          <TargetSearch workspace={workspace} mode={mode} onPick={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

interface TargetSearchProps {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly onPick: () => void
}

function TargetSearch({ workspace, mode, onPick }: TargetSearchProps) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const { slug, role } = workspace
  const items = useSearchableItems(slug, mode)
  const found = findTargets(text, { slug, mode, role, items })
  const payments = useFoundPayments(text, { slug, mode, recipients: items.recipients })
  // The search in the payments comes last, after the payments themselves.
  const known = new Set(found.map(({ path }) => path))
  const targets = [...found.slice(0, -1), ...payments.filter(({ path }) => !known.has(path)), ...found.slice(-1)]
  const go = (target: Target) => {
    onPick()
    void navigate(target.path)
  }
  return (
    <Autocomplete.Root
      inline
      open
      // The component itself must not filter, because `findTargets` filters: its results also depend on the kind of
      // object.
      mode="none"
      items={targets}
      autoHighlight="always"
      value={text}
      onValueChange={setText}
      itemToStringValue={(target: Target) => target.text}
    >
      <Autocomplete.Input
        aria-label="Search"
        placeholder="Page, action, name, amount or ID"
        autoComplete="off"
        spellCheck={false}
        className={FIELD_CLASS}
      />
      <Autocomplete.List aria-label="Results" className="max-h-80 overflow-y-auto not-data-empty:mt-2">
        {(target: Target) => (
          <Autocomplete.Item
            key={`${target.path} ${target.text}`}
            value={target}
            className="cursor-pointer rounded-lg px-3 py-2 data-highlighted:bg-accent-soft data-highlighted:font-semibold"
            onClick={() => go(target)}
          >
            {target.text}
            {target.detail !== undefined && <span className="font-normal text-muted"> · {target.detail}</span>}
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <Autocomplete.Empty className="px-3 pt-3 text-muted empty:hidden">No results.</Autocomplete.Empty>
    </Autocomplete.Root>
  )
}

/** Cached data is reused for this long. */
const STALE_AFTER_MS = 60_000

/** The agents, wallets and grants of a workspace, for the command palette. Empty while loading. */
function useSearchableItems(slug: string, mode: Mode): SearchableItems {
  const options = { staleTime: STALE_AFTER_MS }
  const agents = useQuery({ ...agentsQuery(slug, mode), ...options }).data ?? []
  const wallets = useQuery({ ...walletsQuery(slug, mode), ...options }).data ?? []
  const grants = useQuery({ ...grantsQuery(slug, mode), ...options }).data ?? []
  const recipients = useQuery({ ...recipientsQuery(slug, mode), ...options }).data ?? []
  return { agents, wallets, grants, recipients }
}

const TYPING_PAUSE_MS = 250
const PAYMENTS_SHOWN_MAX = 5
/** A shorter text would match very many payments. */
const SEARCH_CHARS_MIN = 3

interface PaymentSearchContext {
  readonly slug: string
  readonly mode: Mode
  readonly recipients: SearchableItems['recipients']
}

/** The newest payments that match the text, a moment after the user has stopped typing. */
function useFoundPayments(text: string, { slug, mode, recipients }: PaymentSearchContext): readonly Target[] {
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const isSearched = query.length >= SEARCH_CHARS_MIN && query === text.trim()
  const found = useInfiniteQuery({ ...paymentsQuery(slug, mode, { q: query }), enabled: isSearched })
  // While the results load, the query still has those of the text before.
  const page = isSearched && !found.isPlaceholderData ? found.data?.pages[0] : undefined
  return [...(page?.payments ?? []), ...(page?.further ?? [])].slice(0, PAYMENTS_SHOWN_MAX).map((payment) => ({
    text: `${formatAmount(payment.amount_usdc)} USDC to ${payeeOf(payment, recipients)}`,
    detail: `payment, ${formatDate(payment.created_at)}`,
    path: pathTo(slug, mode, 'payments', payment.id),
  }))
}

function payeeOf({ to, purchase }: ListedPayment, recipients: SearchableItems['recipients']): string {
  const label = recipients.find(({ address }) => address.toLowerCase() === to.toLowerCase())?.label
  return purchase?.host ?? label ?? formatShortAddress(to)
}
