import { useState } from 'react'
import type { Agent, Mode, Workspace } from '../../api/wire.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextButton } from '../../components/text-link.tsx'
import { isAdmin } from '../../roles.ts'
import { AgentLimits } from './agent-limits.tsx'
import { CreateAgentForm } from './create-agent-form.tsx'

interface AgentPickerProps {
  readonly workspace: Workspace
  readonly mode: Mode
  /** Undefined while they are being read. */
  readonly agents: readonly Agent[] | undefined
  readonly error: Error | null
  readonly agent: Agent | null
  readonly requestedId: string | null
  readonly onPick: (id: string) => void
  readonly onRetry: () => void
}

export function AgentPicker(props: AgentPickerProps) {
  const { agents, error, onRetry } = props
  return (
    <Section title="As which agent" lead="It spends as this agent, from its wallets, within these limits.">
      {agents === undefined && error === null && <Loading what="Reading the agents" />}
      {agents === undefined && error !== null && <ErrorNotice error={error} onRetry={onRetry} />}
      {agents !== undefined && <Picker {...props} agents={agents} />}
    </Section>
  )
}

function Picker(props: AgentPickerProps & { readonly agents: readonly Agent[] }) {
  const { workspace, mode, agents, agent, requestedId, onPick } = props
  const [isCreating, setCreating] = useState(false)
  const isMissing = requestedId !== null && !agents.some(({ id }) => id === requestedId)
  const isFormShown = isAdmin(workspace.role) && (isCreating || agents.length === 0 || (isMissing && agent === null))
  const pick = (id: string) => {
    setCreating(false)
    onPick(id)
  }
  return (
    <>
      {isMissing && (
        <Notice>
          <p>
            It asked for the agent “<bdi className="font-semibold break-all">{requestedId}</bdi>”. {workspace.name} has
            none of this id in {mode} mode: create it, choose another one, or look in the other mode.
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
          onChange={pick}
        />
      )}
      {agent !== null && <AgentLimits agent={agent} />}
      {isFormShown && (
        <CreateAgentForm slug={workspace.slug} mode={mode} suggestion={isMissing ? requestedId : ''} onCreated={pick} />
      )}
      {isAdmin(workspace.role) && !isFormShown && (
        <p>
          <TextButton onClick={() => setCreating(true)}>Create a new agent</TextButton>
        </p>
      )}
    </>
  )
}
