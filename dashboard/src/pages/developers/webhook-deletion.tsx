import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { webhooksQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

export function WebhookDeletion({ webhook }: { readonly webhook: Webhook }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <Section
      title="Delete endpoint"
      lead="To stop deliveries for a while, disable the endpoint instead. Events that happen meanwhile are never sent to it."
    >
      <p>
        <ConfirmDialog
          label="Delete endpoint"
          title="Delete this endpoint?"
          confirmLabel="Delete endpoint"
          onConfirm={async () => {
            await request('DELETE /console/workspaces/:slug/webhooks/:id', { params: { slug, id: webhook.id } })
            await navigate(to('developers', 'webhooks'))
            await client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey, exact: true })
          }}
        >
          No more events are sent to <span className="break-all">{webhook.url}</span>, and pending deliveries are
          canceled. This can’t be undone.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
