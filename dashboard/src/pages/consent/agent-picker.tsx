import { useRef } from 'react'
import { flushSync } from 'react-dom'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextButton } from '../../components/text-link.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { CreateAgentForm } from './create-agent-form.tsx'
import type { AgentGrants } from './use-agent-grants.ts'
import { AgentLimits } from './agent-limits.tsx'

interface AgentPickerProps {
  readonly workspace: Workspace
  readonly mode: Mode
  /** The agents of the workspace and mode. Undefined while loading. */
  readonly agents: readonly Agent[] | undefined
  readonly error: Error | null
  readonly agent: Agent | null
  /** The limits of `agent`. */
  readonly limits: AgentGrants
  /** Whether the application asks for permission to buy web resources. */
  readonly isBuying: boolean
  readonly requestedId: string | null
  /** The ID typed for a new agent. Null while the form is closed. */
  readonly draft: string | null
  readonly onDraft: (draft: string | null) => void
  readonly onPick: (id: string) => void
  readonly onRetry: () => void
}

export function AgentPicker(props: AgentPickerProps) {
  const { agents, error, onRetry } = props
  return (
    <Section
      title="Agent and limits"
      lead="The application acts as this agent and spends from its wallets, within these limits."
    >
      {agents === undefined && error === null && <Loading what="Loading agents" />}
      {agents === undefined && error !== null && <ErrorNotice error={error} onRetry={onRetry} />}
      {agents !== undefined && <Picker {...props} agents={agents} />}
    </Section>
  )
}

function Picker(props: AgentPickerProps & { readonly agents: readonly Agent[] }) {
  const { workspace, mode, agents, agent, limits, isBuying, requestedId, draft, onDraft, onPick } = props
  const creation = useRef<HTMLDivElement>(null)
  const isMissing = requestedId !== null && !agents.some(({ id }) => id === requestedId)
  const suggestion = isMissing ? requestedId : ''
  // Without another agent to choose, the form is the only option and has no Cancel button.
  const isFormNeeded = agents.length === 0 || (isMissing && agent === null)
  const isFormShown = draft !== null || isFormNeeded
  /** Opens or closes the form, and moves the focus to the element that appears. */
  const change = (next: string | null) => {
    flushSync(() => onDraft(next))
    creation.current?.querySelector<HTMLElement>('input, button')?.focus()
  }
  return (
    <>
      {isMissing && (
        <Notice>
          <p>
            The application asked for the agent “<bdi className="font-semibold break-all">{requestedId}</bdi>”.{' '}
            {workspace.name} has no agent with this ID in {mode} mode. Create it, choose another agent, or switch the
            mode.
          </p>
        </Notice>
      )}
      {agents.length === 0 && !isMissing && (
        <p>
          {workspace.name} has no agent in {mode} mode yet.
        </p>
      )}
      {agents.length > 0 && (
        <SelectField
          label="Agent"
          value={agent?.id ?? ''}
          placeholder="Choose an agent"
          choices={agents.map(({ id }) => ({ value: id, text: id }))}
          onChange={onPick}
        />
      )}
      {agent !== null && <ChosenAgent agent={agent} limits={limits} isBuying={isBuying} />}
      {may(workspace.role, 'manageAgents') && (
        <div ref={creation}>
          {isFormShown ? (
            <CreateAgentForm
              slug={workspace.slug}
              mode={mode}
              suggestion={suggestion}
              onCreated={onPick}
              onTextChange={onDraft}
              onCancel={isFormNeeded ? undefined : () => change(null)}
            />
          ) : (
            <TextButton onClick={() => change(suggestion)}>Create a new agent</TextButton>
          )}
        </div>
      )}
    </>
  )
}

interface ChosenAgentProps {
  readonly agent: Agent
  readonly limits: AgentGrants
  readonly isBuying: boolean
}

/** The limits of the chosen agent, while they load and afterwards. */
function ChosenAgent({ agent, limits, isBuying }: ChosenAgentProps) {
  const { grants, recipients, error, onRetry } = limits
  if (grants !== undefined)
    return <AgentLimits agent={agent} grants={grants} recipients={recipients} isBuying={isBuying} />
  return error === null ? <Loading what="Loading the limits" /> : <ErrorNotice error={error} onRetry={onRetry} />
}
