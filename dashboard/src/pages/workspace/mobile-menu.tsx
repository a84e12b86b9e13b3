import { useId, useRef } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { WorkspaceNavigation } from './workspace-navigation.tsx'

/** The navigation on narrow screens: a native popover, which closes on Escape. */
export function MobileMenu({ workspace, mode }: { readonly workspace: Workspace; readonly mode: Mode }) {
  const id = useId()
  const popover = useRef<HTMLElement>(null)
  return (
    <div className="lg:hidden">
      <button
        type="button"
        popoverTarget={id}
        aria-label="Menu"
        className="-ml-2 inline-flex size-11 items-center justify-center rounded-lg hover:bg-sunken"
      >
        <svg viewBox="0 0 20 20" className="size-5 stroke-current" strokeWidth="1.8" strokeLinecap="round" aria-hidden>
          <path d="M3 5.5h14M3 10h14M3 14.5h14" />
        </svg>
      </button>
      <nav
        ref={popover}
        id={id}
        popover="auto"
        aria-label={`Pages of ${workspace.name}`}
        className="fixed inset-auto top-0 left-0 m-0 h-dvh max-h-dvh w-72 max-w-[85vw] overflow-y-auto border-r border-line bg-surface p-4 text-ink shadow-lift"
      >
        <p className="truncate px-3 pb-4 text-lg font-bold">{workspace.name}</p>
        <WorkspaceNavigation workspace={workspace} mode={mode} onNavigate={() => popover.current?.hidePopover()} />
      </nav>
    </div>
  )
}
