import { useQuery } from '@tanstack/react-query'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { agentsQuery, grantsQuery, walletsQuery } from '../../api/queries.ts'
import type { SearchableItems } from './find-targets.ts'

/** Cached data is reused for this long. */
const STALE_AFTER_MS = 60_000

/** The agents, wallets and grants of a workspace, for the command palette. Empty while loading. */
export function useSearchableItems(slug: string, mode: Mode): SearchableItems {
  const options = { staleTime: STALE_AFTER_MS }
  const agents = useQuery({ ...agentsQuery(slug, mode), ...options }).data ?? []
  const wallets = useQuery({ ...walletsQuery(slug, mode), ...options }).data ?? []
  const grants = useQuery({ ...grantsQuery(slug, mode), ...options }).data ?? []
  return { agents, wallets, grants }
}
