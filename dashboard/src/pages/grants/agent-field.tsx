import { AGENT_ID_CODE_POINTS_MAX } from '@bursar/server/src/values/limits.ts'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { PlanFullNotice, useIsPlanFull } from '../workspace/plan-full-notice.tsx'
import { formatAgentChoice } from '../../format/agent-state-text.ts'
import { AGENT_ID_HINT } from '../../format/name-hints.ts'

export interface AgentChoice {
  readonly id: string
  /** Whether the agent is created together with the grant. */
  readonly isNew: boolean
}

interface AgentFieldProps {
  readonly agents: readonly Agent[]
  readonly choice: AgentChoice
  readonly error: string | undefined
  readonly onChange: (choice: AgentChoice) => void
}

/** The value of the choice “New agent…”. It cannot be the ID of an agent, because IDs have no leading white space. */
const NEW = ' '

/** The agent of a grant: an existing or a new one. */
export function AgentField({ agents, choice, error, onChange }: AgentFieldProps) {
  const isFull = useIsPlanFull('agents')
  return (
    <>
      {agents.length > 0 && (
        <SelectField
          label="Agent"
          value={choice.isNew ? NEW : choice.id}
          placeholder="Choose an agent"
          choices={[
            { value: NEW, text: 'New agent…' },
            ...agents.map((agent) => ({ value: agent.id, text: formatAgentChoice(agent) })),
          ]}
          error={choice.isNew ? undefined : error}
          onChange={(value) => onChange(value === NEW ? { id: '', isNew: true } : { id: value, isNew: false })}
        />
      )}
      {choice.isNew && isFull && <PlanFullNotice kind="agents" />}
      {choice.isNew && (
        <TextField
          name="agent_id"
          label="New agent ID"
          hint={AGENT_ID_HINT}
          mono
          maxLength={AGENT_ID_CODE_POINTS_MAX}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={choice.id}
          error={error}
          onChange={(event) => onChange({ id: event.currentTarget.value, isNew: true })}
        />
      )}
    </>
  )
}
