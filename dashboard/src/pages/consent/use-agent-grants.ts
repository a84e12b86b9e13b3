import { grantsQuery, recipientsQuery } from '../../api/queries.ts'
import { useQuery } from '@tanstack/react-query'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'

export interface AgentGrants {
  /** Undefined while loading, and if they could not be loaded. */
  readonly grants: readonly Grant[] | undefined
  /** The address book. Empty if it could not be loaded: then the recipients are shown without their names. */
  readonly recipients: readonly Recipient[]
  readonly error: Error | null
  readonly onRetry: () => void
}

interface AgentOfWorkspace {
  readonly slug: string | null
  readonly mode: Mode
  readonly agentId: string | null
}

const NONE: readonly Recipient[] = []

/** Reads the grants of an agent, and the names of their recipients. */
export function useAgentGrants({ slug, mode, agentId }: AgentOfWorkspace): AgentGrants {
  const isChosen = slug !== null && agentId !== null
  const grants = useQuery({ ...grantsQuery(slug ?? '', mode, { agent: agentId ?? '' }), enabled: isChosen })
  const recipients = useQuery({ ...recipientsQuery(slug ?? '', mode), enabled: isChosen })
  return {
    // Grants are shown with the names of their recipients, so no grant is returned while the names are loading.
    grants: recipients.isPending ? undefined : grants.data,
    recipients: recipients.data ?? NONE,
    error: grants.error,
    onRetry: () => void grants.refetch(),
  }
}
