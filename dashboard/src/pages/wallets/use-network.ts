import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../api/queries.ts'
import { findChain } from '@bursar/server/src/values/chains.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The name of the chain that the wallets of this mode are on. Null while it is loading. */
export function useNetwork(): string | null {
  const { slug, mode } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  return workspace === undefined ? null : formatNetwork(workspace.chains[mode].chain_id)
}

/** The name of a chain. */
export function formatNetwork(chainId: number): string {
  return findChain(chainId)?.name ?? `chain ${chainId}`
}
