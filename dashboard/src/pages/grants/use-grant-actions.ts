import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { ApiError, hasCode } from '../../api/api-error.ts'
import { liveKey } from '../../api/changes.ts'
import { grantQuery, signGrant, suspendGrant } from '../../api/grants.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

/** The grant ended before the action could be done. */
export interface Superseded {
  /** The ID of the grant that replaced it, or null if it was revoked. */
  readonly by: string | null
}

/** The actions on a grant. All of them refresh the data of the page, even if they fail. */
export function useGrantActions({ id }: Grant) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const store = (grant: Grant) => client.setQueryData(grantQuery(slug, mode, id).queryKey, grant)
  const refresh = () => client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  const signature = useAction({
    mutationFn: () => signGrant(slug, id, 'activate'),
    onSuccess: store,
    // Another user may have signed or discarded it meanwhile.
    onSettled: refresh,
  })
  const [superseded, setSuperseded] = useState<Superseded | null>(null)
  const endWith = async (action: () => Promise<Grant>) => {
    try {
      store(await action())
    } catch (error) {
      if (!hasCode(error, 'grant_revoked')) throw error
      setSuperseded({ by: readReplacement(error) })
    } finally {
      await refresh()
    }
  }
  return {
    signature,
    superseded,
    revoke: () => endWith(() => signGrant(slug, id, 'revoke')),
    suspend: () => endWith(() => suspendGrant(slug, id)),
  }
}

function readReplacement(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  const { details } = error
  if (typeof details !== 'object' || details === null || !('replaced_by' in details)) return null
  return typeof details.replaced_by === 'string' ? details.replaced_by : null
}
