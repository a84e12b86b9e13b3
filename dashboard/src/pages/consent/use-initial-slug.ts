import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { agentsQuery } from '../../api/queries.ts'
import { readLastSlug } from '../../navigation/last-visit.ts'
import { chooseWorkspace, listApprovable } from './choose-agent.ts'

/** At most this many workspaces are checked for agents. */
const WORKSPACES_CHECKED_MAX = 10

/**
 * The slug of the preselected workspace. Null if there is none, undefined while loading. It is chosen only once, so
 * that a change of role does not switch the workspace while the user decides.
 */
export function useInitialSlug(workspaces: readonly Workspace[]): string | null | undefined {
  const [lastSlug] = useState(readLastSlug)
  const [first, setFirst] = useState<string | null | undefined>(undefined)
  const approvable = listApprovable(workspaces)
  const isKnown = first !== undefined || approvable.length < 2 || approvable.some(({ slug }) => slug === lastSlug)
  const checked = isKnown ? [] : approvable.slice(0, WORKSPACES_CHECKED_MAX)
  const answers = useQueries({ queries: checked.map(({ slug }) => agentsQuery(slug, 'test')) })
  if (first !== undefined) return first
  // A workspace that failed to load counts as one without agents. The error is shown when the user picks it.
  if (answers.some(({ isPending }) => isPending)) return undefined
  const withAgents = new Set(
    checked.filter((_, index) => (answers[index]?.data ?? []).length > 0).map(({ slug }) => slug),
  )
  const found = chooseWorkspace(workspaces, { lastSlug, withAgents })?.slug ?? null
  setFirst(found)
  return found
}
