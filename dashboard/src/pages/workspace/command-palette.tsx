import { useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { findTargets, type Target } from './find-targets.ts'
import { useSearchableItems } from './use-searchable-items.ts'

/** Opens with Ctrl+K or Command+K. Finds pages, agents, wallets and grants by name, and most objects by ID. */
export function CommandPalette({ workspace, mode }: { readonly workspace: Workspace; readonly mode: Mode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [picked, setPicked] = useState(0)
  const listId = useId()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const items = useSearchableItems(workspace.slug, mode, isOpen)
  const targets = findTargets(text, { slug: workspace.slug, mode, items })
  const current = Math.min(picked, targets.length - 1)

  const show = () => {
    setOpen(true)
    dialog.current?.showModal()
  }
  const openByKey = useEffectEvent(show)

  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      if (document.querySelector('dialog[open], [role=alertdialog]') === null) openByKey()
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [])

  const go = (target: Target | undefined) => {
    if (target === undefined) return
    dialog.current?.close()
    void navigate(target.path)
  }
  const type = (value: string) => {
    setText(value)
    setPicked(0)
  }
  const press = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || targets.length === 0) return
    event.preventDefault()
    setPicked((current + step + targets.length) % targets.length)
  }

  return (
    <>
      <button
        type="button"
        className="hidden min-h-9 items-center gap-2 rounded-lg border border-edge px-3 text-sm text-muted hover:bg-sunken hover:text-ink lg:inline-flex"
        onClick={show}
      >
        Go to… <kbd className="font-mono text-xs">Ctrl K</kbd>
      </button>
      <dialog
        ref={dialog}
        aria-label="Go to a page"
        onClose={() => {
          type('')
          setOpen(false)
        }}
        className="m-auto mt-[12vh] w-[32rem] max-w-[calc(100vw-2rem)] rounded-2xl border border-line bg-surface p-3 text-ink shadow-lift backdrop:bg-veil"
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            go(targets[current])
          }}
        >
          <input
            role="combobox"
            aria-label="Search"
            aria-expanded={targets.length > 0}
            aria-controls={listId}
            aria-activedescendant={targets.length === 0 ? undefined : `${listId}-${current}`}
            aria-autocomplete="list"
            autoComplete="off"
            spellCheck={false}
            placeholder="Page, agent, wallet, grant or ID"
            value={text}
            onChange={(event) => type(event.currentTarget.value)}
            onKeyDown={press}
            className={FIELD_CLASS}
          />
          <div id={listId} role="listbox" aria-label="Pages" className="mt-2 max-h-80 overflow-y-auto">
            {targets.map((target, index) => (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the focus stays in the input, as in the ARIA combobox pattern
              <div
                key={target.path}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === current}
                className={`cursor-pointer rounded-lg px-3 py-2 ${index === current ? 'bg-accent-soft font-semibold' : ''}`}
                onPointerMove={() => setPicked(index)}
                onClick={() => go(target)}
              >
                {target.text}
                {target.detail !== undefined && <span className="font-normal text-muted"> · {target.detail}</span>}
              </div>
            ))}
          </div>
          {targets.length === 0 && <p className="px-3 py-2 text-muted">No results.</p>}
        </form>
      </dialog>
    </>
  )
}
