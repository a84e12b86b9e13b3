import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { deleteAgent } from '../../api/agents.ts'
import { hasCode } from '../../api/api-error.ts'
import { liveKey } from '../../api/changes.ts'
import { grantsQuery } from '../../api/grants.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DeletionBlockedNotice } from './deletion-blocked-notice.tsx'

/** Takes an agent away, unless grants stand in the way: then it says which. */
export function AgentDeletion({ agentId }: { readonly agentId: string }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: grants, isPending } = useQuery(grantsQuery(slug, mode, { agent: agentId }))
  const [isRefused, setRefused] = useState(false)
  const open = grants?.filter(({ status }) => status !== 'revoked') ?? []
  const remove = async () => {
    try {
      await deleteAgent(slug, mode, agentId)
    } catch (error) {
      // A grant came in between. With it the page says what to do, in the place of the button.
      if (hasCode(error, 'has_active_grants')) {
        setRefused(true)
        await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      }
      throw error
    }
    await navigate(to('agents'))
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  return (
    <Section title="Delete the agent" lead="Its payments stay on record. Applications that act as it are disconnected.">
      {open.length > 0 && <DeletionBlockedNotice grants={open} isAnswer={isRefused} />}
      {open.length === 0 && !isPending && (
        <p>
          <ConfirmDialog
            label="Delete the agent"
            title={`Delete “${agentId}”?`}
            confirmLabel="Delete the agent"
            onConfirm={remove}
          >
            It can’t pay any more, and applications that act as it are disconnected at once. Its payments stay on
            record.
          </ConfirmDialog>
        </p>
      )}
    </Section>
  )
}
