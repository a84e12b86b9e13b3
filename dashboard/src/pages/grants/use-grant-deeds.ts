import { useMutation, useQueryClient } from '@tanstack/react-query'
import { liveKey } from '../../api/changes.ts'
import { grantQuery, signGrant, suspendGrant } from '../../api/grants.ts'
import type { Grant } from '../../api/wire-spending.ts'
import { useWorkspace } from '../workspace/workspace-context.ts'

/** What can be done with a grant. Whatever comes of it, what is on the screen is read anew. */
export function useGrantDeeds({ id }: Grant) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const keep = (grant: Grant) => client.setQueryData(grantQuery(slug, mode, id).queryKey, grant)
  const refresh = () => client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  const signature = useMutation({
    mutationFn: () => signGrant(slug, id, 'activate'),
    onSuccess: keep,
    // Somebody else may have signed or dropped it meanwhile.
    onSettled: refresh,
  })
  return {
    signature,
    revoke: async () => {
      keep(await signGrant(slug, id, 'revoke'))
      await refresh()
    },
    suspend: async () => {
      keep(await suspendGrant(slug, id))
      await refresh()
    },
  }
}
