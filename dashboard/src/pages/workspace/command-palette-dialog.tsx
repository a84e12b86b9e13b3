import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { useQuery } from '@tanstack/react-query'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { type SearchableItems, type Target, findTargets } from './find-targets.ts'
import { agentsQuery, grantsQuery, walletsQuery } from '../../api/queries.ts'

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
  const items = useSearchableItems(workspace.slug, mode)
  const targets = findTargets(text, { slug: workspace.slug, mode, items })
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
        placeholder="Page, agent, wallet, grant or ID"
        autoComplete="off"
        spellCheck={false}
        className={FIELD_CLASS}
      />
      <Autocomplete.List aria-label="Results" className="max-h-80 overflow-y-auto not-data-empty:mt-2">
        {(target: Target) => (
          <Autocomplete.Item
            key={target.path}
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
  return { agents, wallets, grants }
}
