import { useId, useRef, type ReactNode } from 'react'
import { Link } from 'react-router'
import { signOut } from '../api/session.ts'
import { buttonClass } from './button.tsx'
import { ChevronIcon } from './chevron-icon.tsx'
import { useSession } from './session-context.ts'
import { useAction } from './use-action.ts'

const ITEM = 'flex min-h-11 w-full items-center rounded-md px-3 py-2 text-left hover:bg-accent-soft'

/**
 * The menu with the user's workspaces, account and sign-out. It is a native popover: the browser closes it on Escape or
 * a click outside, and tells screen readers whether it is open.
 */
export function UserMenu() {
  const id = useId()
  const popover = useRef<HTMLElement>(null)
  const { user, workspaces } = useSession()
  const signingOut = useAction({ mutationFn: () => signOut('/sign-in') })
  const close = () => popover.current?.hidePopover()
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className={`${buttonClass('quiet')} -mr-2 min-w-0 max-w-48 !px-2 !text-ink`}
      >
        <span className="truncate" title={user.name}>
          {user.name}
        </span>
        <ChevronIcon className="size-3 shrink-0" />
      </button>
      <nav
        ref={popover}
        id={id}
        popover="auto"
        aria-label="Workspaces and account"
        className="fixed inset-auto top-16 right-4 m-0 max-h-[min(80dvh,32rem)] w-64 max-w-[calc(100vw-2rem)] overflow-y-auto rounded-xl border border-line bg-surface p-1.5 text-ink shadow-lift sm:right-6"
      >
        {workspaces.length > 0 && (
          <ul className="mb-1.5 border-b border-line pb-1.5">
            {workspaces.map(({ slug, name }) => (
              <Item key={slug} to={`/w/${encodeURIComponent(slug)}`} onNavigate={close}>
                {name}
              </Item>
            ))}
          </ul>
        )}
        <ul>
          <Item to="/" onNavigate={close}>
            All workspaces
          </Item>
          <Item to="/account" onNavigate={close}>
            Your account
          </Item>
          <li>
            <button type="button" className={ITEM} disabled={signingOut.isPending} onClick={() => signingOut.mutate()}>
              Sign out
            </button>
          </li>
        </ul>
      </nav>
    </>
  )
}

interface ItemProps {
  readonly to: string
  readonly onNavigate: () => void
  readonly children: ReactNode
}

function Item({ to, onNavigate, children }: ItemProps) {
  return (
    <li>
      <Link to={to} className={ITEM} onClick={onNavigate}>
        <span className="truncate">{children}</span>
      </Link>
    </li>
  )
}
