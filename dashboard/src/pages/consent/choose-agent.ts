import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { may } from '@bursar/server/src/values/role.ts'

interface WorkspaceHints {
  /** The workspace that the user last opened. */
  readonly lastSlug?: string | null
  /** The slugs of the workspaces that have an agent. */
  readonly withAgents?: ReadonlySet<string>
}

/**
 * Chooses the preselected workspace. Of the workspaces in which the user may approve, it is the one that the user last
 * opened, else the first with an agent, else the first. If the user may approve in none, it is the first workspace.
 */
export function chooseWorkspace(workspaces: readonly Workspace[], hints: WorkspaceHints = {}): Workspace | null {
  const own = listApprovable(workspaces)
  return (
    own.find(({ slug }) => slug === hints.lastSlug) ??
    own.find(({ slug }) => hints.withAgents?.has(slug)) ??
    own[0] ??
    workspaces[0] ??
    null
  )
}

/** The workspaces in which the user may approve. */
export function listApprovable(workspaces: readonly Workspace[]): readonly Workspace[] {
  return workspaces.filter(({ role }) => may(role, 'manageConnections'))
}

/** The name of a workspace in a list. If several have the same name, the slug is added. */
export function formatWorkspaceName(workspaces: readonly Workspace[], { slug, name }: Workspace): string {
  const isShared = workspaces.some((other) => other.slug !== slug && sameName(other.name, name))
  return isShared ? `${name} · ${slug}` : name
}

function sameName(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

interface AgentChoice {
  /** The agents of the chosen workspace and mode. */
  readonly agents: readonly Agent[]
  /** The agent that the user picked, if any. */
  readonly pickedId: string | null
  /** The agent that the application asked for, if any. */
  readonly requestedId: string | null
}

/**
 * Chooses the agent that the consent is for: the picked one, else the requested one, else the first. If the requested
 * agent does not exist, none is chosen: the user must create it or pick another one.
 */
export function chooseAgent({ agents, pickedId, requestedId }: AgentChoice): Agent | null {
  const picked = agents.find(({ id }) => id === pickedId)
  if (picked !== undefined) return picked
  if (requestedId !== null) return agents.find(({ id }) => id === requestedId) ?? null
  return agents[0] ?? null
}

interface Approval {
  /** The user's role in the workspace. Null if there is no workspace. */
  readonly role: Role | null
  /** The agents of the workspace and mode. Undefined while loading. */
  readonly agents: readonly Agent[] | undefined
  readonly agent: Agent | null
  /** Whether the page shows the limits of `agent`. Nobody should approve limits that they have not seen. */
  readonly areLimitsShown: boolean
  /** The ID typed for a new agent that is not created yet. Null while the form is closed. */
  readonly draft: string | null
}

/** Why the request can't be approved now, as a sentence. Null if it can. The server checks again. */
export function findApprovalBlocker({ role, agents, agent, areLimitsShown, draft }: Approval): string | null {
  if (role === null) return 'To approve, create a workspace first.'
  if (!may(role, 'manageConnections')) return 'Viewers can’t approve. Ask an owner or admin of this workspace.'
  if (agents === undefined) return 'The agents of this workspace are still loading.'
  // If the user has typed an ID, they want a new agent. It must be created first, even if another agent is picked.
  if (agent !== null && (draft ?? '').trim() !== '') {
    return 'To approve, create the new agent first, or press Cancel in its form.'
  }
  if (agent !== null) return areLimitsShown ? null : 'To approve, wait until the limits of this agent are shown.'
  return agents.length === 0 ? 'To approve, create an agent first.' : 'To approve, choose an agent first.'
}
