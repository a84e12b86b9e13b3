import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentsQuery } from '../../api/agents.ts'
import type { AuthorizationRequest, Mode, Scope } from '../../api/wire.ts'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { SignedInAs } from '../../components/signed-in-as.tsx'
import { CreateWorkspaceForm } from '../create-workspace-form.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { chooseAgent, findObstacle } from './choose-agent.ts'
import { Decision } from './decision.tsx'
import { PlacePicker } from './place-picker.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { WhoAsks } from './who-asks.tsx'

interface ConsentProps {
  readonly handle: string
  readonly request: AuthorizationRequest
}

export function Consent({ handle, request }: ConsentProps) {
  const { user, workspaces } = useSession()
  const [scopes, setScopes] = useState<readonly Scope[]>(request.scopes)
  const [pickedSlug, setPickedSlug] = useState<string | null>(null)
  const [mode, setMode] = useState<Mode>('test')
  const [pickedId, setPickedId] = useState<string | null>(null)

  const workspace = workspaces.find(({ slug }) => slug === pickedSlug) ?? workspaces[0] ?? null
  const query = useQuery({ ...agentsQuery(workspace?.slug ?? '', mode), enabled: workspace !== null })
  const agents = query.data
  const agent = agents === undefined ? null : chooseAgent({ agents, pickedId, requestedId: request.agent_id })

  return (
    <>
      <div className="grid gap-8 lg:grid-cols-[5fr_6fr] lg:gap-12">
        <div className="grid min-w-0 content-start gap-6">
          <WhoAsks client={request.client} />
          <SignedInAs userName={user.name} here={`/consent?request=${encodeURIComponent(handle)}`} />
          <ScopePicker asked={request.scopes} chosen={scopes} onChange={setScopes} />
        </div>
        <div className="grid min-w-0 content-start gap-8">
          {workspace === null ? (
            <Section title="For which workspace" lead="You belong to none yet. Create one here, then go on.">
              <CreateWorkspaceForm onCreated={({ slug }) => setPickedSlug(slug)} />
            </Section>
          ) : (
            <>
              <PlacePicker workspace={workspace} mode={mode} onWorkspace={setPickedSlug} onMode={setMode} />
              <AgentPicker
                key={`${workspace.slug} ${mode}`}
                workspace={workspace}
                mode={mode}
                agents={agents}
                error={query.error}
                agent={agent}
                requestedId={request.agent_id}
                onPick={setPickedId}
                onRetry={() => void query.refetch()}
              />
            </>
          )}
        </div>
      </div>
      <Decision
        handle={handle}
        host={request.client.redirect_host}
        workspace={workspace}
        mode={mode}
        agentId={agent?.id ?? null}
        scopes={scopes}
        obstacle={findObstacle({ role: workspace?.role ?? null, agents, agent })}
      />
    </>
  )
}
