import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { deleteAgent } from '../../api/agents.ts'
import { ApiError, hasCode } from '../../api/api-error.ts'
import { liveKey } from '../../api/changes.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { useWorkspace } from '../workspace/workspace-context.ts'
import { ObstacleNotice } from './obstacle-notice.tsx'

/** Takes an agent away, unless grants stand in the way: then it says which. */
export function AgentDeletion({ agentId }: { readonly agentId: string }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [obstacles, setObstacles] = useState<readonly string[] | null>(null)
  const remove = async () => {
    setObstacles(null)
    try {
      await deleteAgent(slug, mode, agentId)
    } catch (error) {
      if (!hasCode(error, 'has_active_grants')) throw error
      setObstacles(grantsInTheWay(error))
      return
    }
    await navigate(to('agents'))
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  return (
    <Section title="Delete the agent" lead="Its payments stay on record. Applications that act as it are disconnected.">
      {obstacles !== null && <ObstacleNotice agentId={agentId} grantIds={obstacles} />}
      <p>
        <ConfirmDialog
          label="Delete the agent"
          title={`Delete “${agentId}”?`}
          confirmLabel="Delete the agent"
          onConfirm={remove}
        >
          It can’t pay any more, and applications that act as it are disconnected at once. Its payments stay on record.
        </ConfirmDialog>
      </p>
    </Section>
  )
}

function grantsInTheWay(error: unknown): readonly string[] {
  if (!(error instanceof ApiError)) return []
  const { details } = error
  if (typeof details !== 'object' || details === null || !('grants' in details)) return []
  if (!Array.isArray(details.grants)) return []
  return (details.grants as readonly { readonly id?: unknown }[])
    .map((grant) => grant.id)
    .filter((id): id is string => typeof id === 'string')
}
