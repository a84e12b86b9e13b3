import { NavLink } from 'react-router'
import { NavIcon } from '../../components/nav-icon.tsx'
import { pathTo } from '../../navigation/paths.ts'
import type { Mode, Workspace } from '../../api/wire.ts'
import { PAGE_GROUPS } from './pages-of-workspace.ts'

interface WorkspaceNavigationProps {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly onFollow?: () => void
}

const ITEM =
  'flex min-h-11 items-center gap-3 rounded-lg px-3 py-1.5 text-[0.9375rem] lg:min-h-9 focus-visible:-outline-offset-2'

/** Where one can go in a workspace. */
export function WorkspaceNavigation({ workspace, mode, onFollow }: WorkspaceNavigationProps) {
  return (
    <div className="grid gap-5">
      {PAGE_GROUPS.map(({ title, pages }) => (
        <div key={title ?? 'first'} className="grid gap-1">
          {title !== null && <p className="px-3 text-xs font-semibold text-muted">{title}</p>}
          <ul className="grid gap-0.5">
            {pages.map(({ parts, text, icon }) => (
              <li key={text}>
                <NavLink
                  to={pathTo(workspace.slug, mode, ...parts)}
                  end={parts.length === 0}
                  onClick={onFollow}
                  className={({ isActive }) =>
                    `${ITEM} ${isActive ? 'bg-accent-soft font-semibold text-ink' : 'text-muted hover:bg-sunken hover:text-ink'}`
                  }
                >
                  <NavIcon icon={icon} />
                  {text}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
