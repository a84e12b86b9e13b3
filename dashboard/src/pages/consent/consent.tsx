import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AuthorizationRequest, Scope } from '@bursar/server/src/console/contract/connections.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { agentsQuery } from '../../api/queries.ts'
import { Loading } from '../../components/loading.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { SignedInAs } from '../../components/signed-in-as.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { CreateWorkspaceForm } from '../create-workspace-form.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { chooseAgent, chooseWorkspace, findApprovalBlocker, listApprovable } from './choose-agent.ts'
import { DecisionForm } from './decision-form.tsx'
import { WorkspacePicker } from './workspace-picker.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { useAgentGrants } from './use-agent-grants.ts'
import { ClientSummary } from './client-summary.tsx'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { readLastSlug } from '../../navigation/last-visit.ts'

/** At most this many workspaces are checked for agents. */
const WORKSPACES_CHECKED_MAX = 10

interface ConsentProps {
  readonly handle: string
  readonly request: AuthorizationRequest
}

export function Consent(props: ConsentProps) {
  const initialSlug = useInitialSlug(useSession().workspaces)
  if (initialSlug === undefined) return <Loading what="Loading your workspaces" />
  return <Choices {...props} initialSlug={initialSlug} />
}

function Choices({ handle, request, initialSlug }: ConsentProps & { readonly initialSlug: string | null }) {
  const { user, workspaces } = useSession()
  const [scopes, setScopes] = useState<readonly Scope[]>(request.scopes)
  const [slug, setSlug] = useState(initialSlug)
  const [mode, setMode] = useState<Mode>('test')
  const [pickedId, setPickedId] = useState<string | null>(null)
  const [draft, setDraft] = useState<string | null>(null)

  const workspace = workspaces.find((candidate) => candidate.slug === slug) ?? chooseWorkspace(workspaces)
  const query = useQuery({ ...agentsQuery(workspace?.slug ?? '', mode), enabled: workspace !== null })
  const agents = query.data
  const agent = agents === undefined ? null : chooseAgent({ agents, pickedId, requestedId: request.agent_id })
  const limits = useAgentGrants({ slug: workspace?.slug ?? null, mode, agentId: agent?.id ?? null })
  const areLimitsShown = limits.grants !== undefined
  const blocker = findApprovalBlocker({ role: workspace?.role ?? null, agents, agent, areLimitsShown, draft })

  /** Returns a handler that makes another choice and discards the form for a new agent. */
  const discardDraftAnd =
    <Choice,>(pick: (choice: Choice) => void) =>
    (choice: Choice) => {
      setDraft(null)
      pick(choice)
    }

  return (
    <>
      <div className="grid gap-8 lg:grid-cols-[5fr_6fr] lg:gap-12">
        <div className="grid min-w-0 content-start gap-6">
          <ClientSummary client={request.client} />
          <SignedInAs userName={user.name} here={`/consent?request=${encodeURIComponent(handle)}`} />
          {workspace !== null && !may(workspace.role, 'manageConnections') && (
            // On narrow screens the buttons are far below, so the reason why the user cannot approve is repeated here.
            // Screen readers read the reason at the buttons.
            <div aria-hidden="true" className="lg:hidden">
              <Notice>
                <p>{blocker}</p>
              </Notice>
            </div>
          )}
          <ScopePicker asked={request.scopes} chosen={scopes} onChange={setScopes} />
        </div>
        <div className="grid min-w-0 content-start gap-8">
          {workspace === null ? (
            <Section title="Workspace" lead="You don’t have a workspace yet. Create one to continue.">
              <CreateWorkspaceForm onCreated={(created) => setSlug(created.slug)} />
            </Section>
          ) : (
            <>
              <WorkspacePicker
                workspace={workspace}
                mode={mode}
                onWorkspace={discardDraftAnd(setSlug)}
                onMode={discardDraftAnd(setMode)}
              />
              <AgentPicker
                key={`${workspace.slug} ${mode}`}
                workspace={workspace}
                mode={mode}
                agents={agents}
                error={query.error}
                agent={agent}
                limits={limits}
                isBuying={scopes.includes('x402:pay')}
                requestedId={request.agent_id}
                draft={draft}
                onDraft={setDraft}
                onPick={discardDraftAnd(setPickedId)}
                onRetry={() => void query.refetch()}
              />
            </>
          )}
        </div>
      </div>
      <DecisionForm
        handle={handle}
        host={request.client.redirect_host}
        workspace={workspace}
        mode={mode}
        agentId={agent?.id ?? null}
        scopes={scopes}
        blocker={blocker}
      />
    </>
  )
}

/**
 * The slug of the preselected workspace. Null if there is none, undefined while loading. It is chosen only once, so
 * that a change of role does not switch the workspace while the user decides.
 */
function useInitialSlug(workspaces: readonly Workspace[]): string | null | undefined {
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
