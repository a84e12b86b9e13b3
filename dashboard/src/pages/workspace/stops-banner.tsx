import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { SessionWorkspace } from '@bursar/server/src/console/contract/session.ts'
import { stopsQuery } from '../../api/queries.ts'
import { TextLink } from '../../components/text-link.tsx'
import { pathTo } from '../../navigation/paths.ts'
import { StopNotice } from './stop-notice.tsx'

/** More stops than these are shown on their own page only. */
const SHOWN_MAX = 2

/** Shows the stops in force above every page. The page about stops shows them itself. */
export function StopsBanner({ workspace, mode }: { readonly workspace: SessionWorkspace; readonly mode: Mode }) {
  const { data: stops = [] } = useQuery(stopsQuery(workspace.slug, mode))
  const path = pathTo(workspace.slug, mode, 'stop')
  const isOwnPage = useLocation().pathname === path
  const shown = isOwnPage ? [] : stops.slice(0, SHOWN_MAX)
  return (
    <div role="status" className="grid gap-3 empty:absolute print:hidden">
      {shown.map((stop) => (
        <StopNotice key={stop.id} workspace={workspace} stop={stop} />
      ))}
      {!isOwnPage && stops.length > SHOWN_MAX && (
        <p>
          <TextLink to={path}>See all {stops.length} stops</TextLink>
        </p>
      )}
    </div>
  )
}
