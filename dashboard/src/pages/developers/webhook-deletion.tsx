import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { deleteWebhook, webhooksQuery } from '../../api/webhooks.ts'
import type { Webhook } from '../../api/wire-developers.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

export function WebhookDeletion({ webhook }: { readonly webhook: Webhook }) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <Section title="Delete the endpoint" lead="To pause it, disable it instead: then it can be enabled again.">
      <p>
        <ConfirmDialog
          label="Delete the endpoint"
          title="Delete the endpoint?"
          confirmLabel="Delete it"
          onConfirm={async () => {
            await deleteWebhook(slug, webhook.id)
            await navigate(to('developers', 'webhooks'))
            await client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey, exact: true })
          }}
        >
          Nothing is sent to <span className="break-all">{webhook.url}</span> any more, and what is on its way is
          canceled. This can’t be undone.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
