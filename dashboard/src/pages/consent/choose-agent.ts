import type { Role, Workspace } from '../../api/wire.ts'
import type { Agent } from '../../api/wire-spending.ts'
import { isAdmin } from '../../roles.ts'

interface WorkspaceHints {
  /** The one that the person last looked at. */
  readonly lastSlug?: string | null
  /** Those that are known to have an agent. */
  readonly withAgents?: ReadonlySet<string>
}

/**
 * The workspace to begin with, of those in which one may approve: the last one that was looked at; else the first that
 * has an agent; else the first. Where one may approve nowhere, the first at all.
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

/** Those in which one may approve. */
export function listApprovable(workspaces: readonly Workspace[]): readonly Workspace[] {
  return workspaces.filter(({ role }) => isAdmin(role))
}

/** What a workspace is called among others: where two have the same name, with what tells them apart. */
export function formatWorkspaceName(workspaces: readonly Workspace[], { slug, name }: Workspace): string {
  const isShared = workspaces.some((other) => other.slug !== slug && sameName(other.name, name))
  return isShared ? `${name} · ${slug}` : name
}

function sameName(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

interface AgentChoice {
  /** Those of the workspace and mode that are picked. */
  readonly agents: readonly Agent[]
  /** Whom the person picked; null before that. */
  readonly pickedId: string | null
  /** Whom the application asked for, if it did. */
  readonly requestedId: string | null
}

/**
 * The agent that the consent is about: the picked one; else the one that was asked for; else the first. Where another
 * one was asked for than there is, none is picked in its place: the person creates it, or picks knowingly.
 */
export function chooseAgent({ agents, pickedId, requestedId }: AgentChoice): Agent | null {
  const picked = agents.find(({ id }) => id === pickedId)
  if (picked !== undefined) return picked
  if (requestedId !== null) return agents.find(({ id }) => id === requestedId) ?? null
  return agents[0] ?? null
}

interface Approval {
  /** One's role in the workspace; null without a workspace. */
  readonly role: Role | null
  /** Undefined while the agents are being read. */
  readonly agents: readonly Agent[] | undefined
  readonly agent: Agent | null
  /** What is typed as the id of a new agent that is not created yet; null while nobody makes one. */
  readonly draft: string | null
}

/** Why the request can't be approved as things stand, as a sentence; null when it can. The server decides again. */
export function findApprovalBlocker({ role, agents, agent, draft }: Approval): string | null {
  if (role === null) return 'To approve, create a workspace first.'
  if (!isAdmin(role)) return 'As a viewer you can’t approve. Ask an owner or admin of this workspace.'
  if (agents === undefined) return 'The agents of this workspace are not read yet.'
  // Whoever types an id means that agent, and not the one that was picked before.
  if (agent !== null)
    return (draft ?? '').trim() === '' ? null : 'To approve, create the new agent first, or cancel it.'
  return agents.length === 0 ? 'To approve, create an agent first.' : 'To approve, choose an agent first.'
}
