import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, hasCode } from '../../api/api-error.ts'
import { liveKey } from '../../api/changes.ts'
import { grantQuery, signGrant, suspendGrant } from '../../api/grants.ts'
import type { Grant } from '../../api/wire-spending.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

/** A grant that ended before what was asked of it could be done. */
export interface Superseded {
  /** The grant that took its place. */
  readonly by: string | null
}

/** What can be done with a grant. Whatever comes of it, what is on the screen is read anew. */
export function useGrantActions({ id }: Grant) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const keep = (grant: Grant) => client.setQueryData(grantQuery(slug, mode, id).queryKey, grant)
  const refresh = () => client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  const signature = useAction({
    mutationFn: () => signGrant(slug, id, 'activate'),
    onSuccess: keep,
    // Somebody else may have signed or discarded it meanwhile.
    onSettled: refresh,
  })
  const [superseded, setSuperseded] = useState<Superseded | null>(null)
  const end = async (action: () => Promise<Grant>) => {
    try {
      keep(await action())
    } catch (error) {
      if (!hasCode(error, 'grant_revoked')) throw error
      setSuperseded({ by: successorOf(error) })
    } finally {
      await refresh()
    }
  }
  return {
    signature,
    superseded,
    revoke: () => end(() => signGrant(slug, id, 'revoke')),
    suspend: () => end(() => suspendGrant(slug, id)),
  }
}

function successorOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  const { details } = error
  if (typeof details !== 'object' || details === null || !('replaced_by' in details)) return null
  return typeof details.replaced_by === 'string' ? details.replaced_by : null
}
