import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentsQuery } from '../../api/agents.ts'
import type { AuthorizationRequest, Mode, Scope } from '../../api/wire.ts'
import { Loading } from '../../components/loading.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { SignedInAs } from '../../components/signed-in-as.tsx'
import { isAdmin } from '../../roles.ts'
import { CreateWorkspaceForm } from '../create-workspace-form.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { chooseAgent, chooseWorkspace, findApprovalBlocker } from './choose-agent.ts'
import { DecisionForm } from './decision-form.tsx'
import { WorkspacePicker } from './workspace-picker.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { useInitialSlug } from './use-initial-slug.ts'
import { ClientSummary } from './client-summary.tsx'

interface ConsentProps {
  readonly handle: string
  readonly request: AuthorizationRequest
}

export function Consent(props: ConsentProps) {
  const initialSlug = useInitialSlug(useSession().workspaces)
  if (initialSlug === undefined) return <Loading what="Reading your workspaces" />
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
  const blocker = findApprovalBlocker({ role: workspace?.role ?? null, agents, agent, draft })

  /** Another choice takes the place of an agent that was about to be made. */
  const pickWith =
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
          {workspace !== null && !isAdmin(workspace.role) && (
            // Where the answer is far below. Readers of the screen hear it there.
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
            <Section title="For which workspace" lead="You belong to none yet. Create one here, then go on.">
              <CreateWorkspaceForm onCreated={(created) => setSlug(created.slug)} />
            </Section>
          ) : (
            <>
              <WorkspacePicker
                workspace={workspace}
                mode={mode}
                onWorkspace={pickWith(setSlug)}
                onMode={pickWith(setMode)}
              />
              <AgentPicker
                key={`${workspace.slug} ${mode}`}
                workspace={workspace}
                mode={mode}
                agents={agents}
                error={query.error}
                agent={agent}
                requestedId={request.agent_id}
                draft={draft}
                onDraft={setDraft}
                onPick={pickWith(setPickedId)}
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
