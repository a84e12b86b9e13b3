import { useState } from 'react'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The secret that signs the requests to an endpoint. */
export function WebhookSecret({ webhook }: { readonly webhook: Webhook }) {
  const { slug, to } = useWorkspace()
  const [secret, setSecret] = useState<string | null>(null)
  if (secret !== null) {
    return (
      <Section
        key="new"
        title="New signing secret"
        lead="For the next 24 hours, each request is signed with both the old and the new secret. Switch your server to the new secret by then."
        takesFocus
      >
        <LeaveGuard
          title="Leave without the secret?"
          lead="You won’t be able to see this secret again."
          leaveLabel="Leave without it"
        />
        <OneTimeSecret label="Signing secret" secret={secret} what="the secret" />
        <p>
          <Button onClick={() => setSecret(null)}>I have saved it</Button>
        </p>
      </Section>
    )
  }
  return (
    <Section
      title="Signing secret"
      lead={
        <>
          Each request is signed with this secret. See{' '}
          <TextLink to={to('developers', 'examples')}>the examples</TextLink> for how to verify the signature.
        </>
      }
    >
      <p>
        <ConfirmDialog
          label="Rotate secret"
          title="Rotate the signing secret?"
          confirmLabel="Create new secret"
          isHarmless
          onConfirm={async () => {
            const input = { params: { slug, id: webhook.id }, body: {} }
            const { webhook: rotated } = await request(
              'POST /console/workspaces/:slug/webhooks/:id/rotate-secret',
              input,
            )
            setSecret(rotated.secret)
          }}
        >
          You get a new secret, which is shown only once. For 24 hours, requests are signed with both secrets, so that
          your server can switch without interruption. Only the two newest secrets are used. If you already rotated the
          secret in the last 24 hours, the oldest one stops being used immediately.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
