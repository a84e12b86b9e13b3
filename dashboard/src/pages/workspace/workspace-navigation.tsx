import { useQuery } from '@tanstack/react-query'
import { NavLink, useLocation } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { waitingQuery } from '../../api/queries.ts'
import { NavIcon } from './nav-icon.tsx'
import { pathTo } from '../../navigation/paths.ts'
import { PAGE_GROUPS, type PageIcon } from './workspace-pages.ts'

interface WorkspaceNavigationProps {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly onNavigate?: () => void
}

const ITEM =
  'flex min-h-11 items-center gap-3 rounded-lg px-3 py-1.5 text-[0.9375rem] lg:min-h-9 focus-visible:-outline-offset-2'

/** Paths that belong to a page of the navigation, although they do not start with its path. */
const RELATED_PATHS: Readonly<Partial<Record<PageIcon, readonly string[]>>> = {
  payments: ['refusals'],
  webhooks: ['developers', 'deliveries'],
}

/** The navigation links of a workspace. */
export function WorkspaceNavigation({ workspace, mode, onNavigate }: WorkspaceNavigationProps) {
  const { pathname } = useLocation()
  const { data: waiting } = useQuery(waitingQuery(workspace.slug, mode))
  const isOnRelatedPath = (icon: PageIcon) => {
    const parts = RELATED_PATHS[icon]
    return parts !== undefined && pathname.startsWith(`${pathTo(workspace.slug, mode, ...parts)}/`)
  }
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
                  onClick={onNavigate}
                  className={({ isActive, isPending }) =>
                    `${ITEM} ${itemClass({ isCurrent: isActive || isOnRelatedPath(icon), isPending })}`
                  }
                >
                  <NavIcon icon={icon} />
                  {text}
                  {icon === 'grants' && waiting !== undefined && waiting.grants > 0 && (
                    <Waiting count={waiting.grants} />
                  )}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}

/** Returns the CSS classes of a link. A link to a page that is still loading is highlighted immediately. */
function itemClass({ isCurrent, isPending }: { readonly isCurrent: boolean; readonly isPending: boolean }): string {
  if (isCurrent) return 'bg-accent-soft font-semibold text-ink'
  return isPending ? 'bg-sunken text-ink' : 'text-muted hover:bg-sunken hover:text-ink'
}

/** How many things on a page wait for the user. */
function Waiting({ count }: { readonly count: number }) {
  return (
    <span
      title="Waiting for your signature"
      className="ml-auto min-w-6 rounded-full bg-accent px-1.5 text-center text-xs leading-6 font-bold text-on-accent tabular-nums"
    >
      {count}
      <span className="sr-only"> waiting for your signature</span>
    </span>
  )
}
