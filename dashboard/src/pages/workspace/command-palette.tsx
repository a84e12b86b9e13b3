import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { registerLoader } from '../../navigation/page-loader.ts'

interface CommandPaletteProps {
  readonly workspace: Workspace
  readonly mode: Mode
}

/** Loaded when it is first opened, or while the browser is idle, so that it does not delay the first page. */
const CommandPaletteDialog = lazy(
  registerLoader(async () => ({ default: (await import('./command-palette-dialog.tsx')).CommandPaletteDialog })),
)

/** Opens with Ctrl+K or Command+K. Finds pages, actions, agents, wallets, grants, recipients and payments. */
export function CommandPalette({ workspace, mode }: CommandPaletteProps) {
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setOpened] = useState(false)
  if (isOpen && !wasOpened) setOpened(true)
  const openByKey = useEffectEvent(() => setOpen(true))
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      if (document.querySelector('[role=dialog], [role=alertdialog]') === null) openByKey()
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [])
  return (
    <>
      <button
        type="button"
        className="hidden min-h-9 items-center gap-2 rounded-lg border border-edge px-3 text-sm text-muted hover:bg-sunken hover:text-ink lg:inline-flex"
        onClick={() => setOpen(true)}
      >
        Go to… <kbd className="font-mono text-xs">Ctrl K</kbd>
      </button>
      <Suspense>
        {wasOpened && <CommandPaletteDialog workspace={workspace} mode={mode} isOpen={isOpen} onOpenChange={setOpen} />}
      </Suspense>
    </>
  )
}
