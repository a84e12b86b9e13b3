import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { grantsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { hasCode } from '../../api/api-error.ts'
import { liveKey } from '../../api/query-key.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DeletionBlockedNotice } from './deletion-blocked-notice.tsx'

/** Deletes an agent. If it still has grants, lists them instead. */
export function AgentDeletion({ agentId }: { readonly agentId: string }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: grants, isPending } = useQuery(grantsQuery(slug, mode, { agent: agentId }))
  const [isRejected, setRejected] = useState(false)
  const open = grants?.filter(({ status }) => status !== 'revoked') ?? []
  const remove = async () => {
    try {
      await request('DELETE /console/workspaces/:slug/agents/:id', { params: { slug, id: agentId }, query: { mode } })
    } catch (error) {
      // A grant was created meanwhile. After the refresh, the page shows this grant instead of the button.
      if (hasCode(error, 'has_active_grants')) {
        setRejected(true)
        await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      }
      throw error
    }
    await navigate(to('agents'))
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  return (
    <Section
      title="Delete agent"
      lead="The agent’s payments are kept. Applications that act as this agent are disconnected, and API keys that are bound to this agent are revoked."
    >
      {open.length > 0 && <DeletionBlockedNotice grants={open} takesFocus={isRejected} />}
      {open.length === 0 && !isPending && (
        <p>
          <ConfirmDialog
            label="Delete agent"
            title={`Delete “${agentId}”?`}
            confirmLabel="Delete agent"
            onConfirm={remove}
          >
            The agent can no longer pay. Applications that act as this agent are disconnected immediately, and API keys
            that are bound to this agent are revoked. The agent’s payments are kept.
          </ConfirmDialog>
        </p>
      )}
    </Section>
  )
}
