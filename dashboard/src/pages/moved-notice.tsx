import { useQuery } from '@tanstack/react-query'
import { hasCode } from '../api/api-error.ts'
import { workspaceQuery } from '../api/queries.ts'
import { Notice } from '../components/notice.tsx'

/** Says that a workspace was moved, if the server says so. Otherwise shows nothing. */
export function MovedNotice({ slug }: { readonly slug: string }) {
  const { error } = useQuery({ ...workspaceQuery(slug), staleTime: 0 })
  if (!hasCode(error, 'workspace_moved')) return null
  return (
    <Notice tone="warning">
      <p>
        The workspace <bdi>{slug}</bdi> was moved to other servers. Ask the server operator for its new address, and
        sign in there.
      </p>
    </Notice>
  )
}
