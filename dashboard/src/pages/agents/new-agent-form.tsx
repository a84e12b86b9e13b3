import { AGENT_ID_CODE_POINTS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { agentsQuery } from '../../api/queries.ts'
import { createAgent } from '../../api/agents.ts'
import { Button } from '../../components/button.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { Section } from '../../components/section.tsx'
import { PlanFullNotice, useIsPlanFull } from '../workspace/plan-full-notice.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AGENT_ID_HINT } from '../../format/name-hints.ts'

/** Creates an agent and opens its page. If the ID already exists, opens the existing agent. */
export function NewAgentForm({ onCancel }: { readonly onCancel: () => void }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const isFull = useIsPlanFull('agents')
  return (
    <div className="max-w-xl rounded-xl border border-line bg-surface p-5">
      <Section title="New agent" takesFocus>
        {isFull && (
          <>
            <PlanFullNotice kind="agents" />
            <p>
              <Button onClick={onCancel}>Close</Button>
            </p>
          </>
        )}
        {!isFull && (
          <NameForm
            label="Agent ID"
            hint={AGENT_ID_HINT}
            submitLabel="Create agent"
            variant="primary"
            isMono
            charsMax={AGENT_ID_CODE_POINTS_MAX}
            onCancel={onCancel}
            onSubmit={async (id) => {
              const agent = await createAgent(slug, mode, id)
              await client.invalidateQueries({ queryKey: agentsQuery(slug, mode).queryKey })
              await navigate(to('agents', agent.id))
            }}
          />
        )}
      </Section>
    </div>
  )
}
