import { NavLink, Outlet, useParams } from 'react-router'
import { useSession } from '../../components/session-context.ts'
import { NotFoundPage } from '../not-found-page.tsx'

const TABS = [
  { path: '', text: 'Overview' },
  { path: 'connections', text: 'Connections' },
  { path: 'members', text: 'Members' },
  { path: 'audit', text: 'Audit log' },
] as const

const TAB =
  'inline-flex min-h-11 items-center border-b-2 font-semibold whitespace-nowrap focus-visible:-outline-offset-2 sm:px-0.5'

export function WorkspaceLayout() {
  const slug = useParams()['slug'] ?? ''
  const workspace = useSession().workspaces.find((candidate) => candidate.slug === slug)
  if (workspace === undefined) return <NotFoundPage />
  const base = `/w/${encodeURIComponent(slug)}`
  return (
    <>
      <nav aria-label={`Workspace ${workspace.name}`} className="-mt-4 min-w-0 border-b border-line">
        <ul className="-mb-px flex gap-x-2 overflow-x-auto text-sm [scrollbar-width:none] sm:gap-x-5 sm:text-base">
          {TABS.map(({ path, text }) => (
            <li key={path}>
              <NavLink
                to={path === '' ? base : `${base}/${path}`}
                end={path === ''}
                className={({ isActive }) =>
                  `${TAB} ${isActive ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink'}`
                }
              >
                {text}
              </NavLink>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet context={workspace} />
    </>
  )
}
