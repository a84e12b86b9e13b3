import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { agentsQuery } from '../../api/agents.ts'
import type { Workspace } from '../../api/wire.ts'
import { readLastSlug } from '../../navigation/last-visit.ts'
import { chooseWorkspace, listApprovable } from './choose-agent.ts'

/** So many workspaces are asked for their agents, at the most. */
const ASKED_MAX = 10

/**
 * The slug of the workspace to begin with, null where there is none; undefined while it is not known. It is found once,
 * and not anew when a role changes: nobody is moved to another workspace while they decide.
 */
export function useInitialSlug(workspaces: readonly Workspace[]): string | null | undefined {
  const [lastSlug] = useState(readLastSlug)
  const [first, setFirst] = useState<string | null | undefined>(undefined)
  const own = listApprovable(workspaces)
  const isKnown = first !== undefined || own.length < 2 || own.some(({ slug }) => slug === lastSlug)
  const asked = isKnown ? [] : own.slice(0, ASKED_MAX)
  const answers = useQueries({ queries: asked.map(({ slug }) => agentsQuery(slug, 'test')) })
  if (first !== undefined) return first
  // One that could not be read counts as one without agents: its error is told when it is picked.
  if (answers.some(({ isPending }) => isPending)) return undefined
  const withAgents = new Set(
    asked.filter((_, index) => (answers[index]?.data ?? []).length > 0).map(({ slug }) => slug),
  )
  const found = chooseWorkspace(workspaces, { lastSlug, withAgents })?.slug ?? null
  setFirst(found)
  return found
}
