import { AGENT_ID_CODE_POINTS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQueryClient } from '@tanstack/react-query'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { agentsQuery } from '../../api/queries.ts'
import { createAgent } from '../../api/agents.ts'
import { NameForm } from '../../components/name-form.tsx'

interface CreateAgentFormProps {
  readonly slug: string
  readonly mode: Mode
  readonly suggestion: string
  readonly onCreated: (id: string) => void
  readonly onTextChange: (text: string) => void
  readonly onCancel: (() => void) | undefined
}

export function CreateAgentForm(props: CreateAgentFormProps) {
  const { slug, mode, suggestion, onCreated, onTextChange, onCancel } = props
  const client = useQueryClient()
  return (
    <div className="rounded-xl border border-line bg-sunken p-4">
      <NameForm
        label="New agent ID"
        hint="For example “research-bot”. A new agent can’t spend until a wallet’s owner signs a grant for it."
        submitLabel="Create agent"
        isMono
        charsMax={AGENT_ID_CODE_POINTS_MAX}
        initial={suggestion}
        onTextChange={onTextChange}
        onCancel={onCancel}
        onSubmit={async (id) => {
          const agent = await createAgent(slug, mode, id)
          await client.invalidateQueries({ queryKey: agentsQuery(slug, mode).queryKey })
          onCreated(agent.id)
        }}
      />
    </div>
  )
}
