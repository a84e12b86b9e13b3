import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../api/queries.ts'
import { formatNetwork } from '../../format/format-network.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The name of the chain that the wallets of this mode are on. Null while it is loading. */
export function useNetwork(): string | null {
  const { slug, mode } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  return workspace === undefined ? null : formatNetwork(workspace.chains[mode].chain_id)
}
