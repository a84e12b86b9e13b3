import { useState } from 'react'
import { rotateWebhookSecret } from '../../api/webhooks.ts'
import type { Webhook } from '../../api/wire-developers.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The secret that an endpoint's posts are signed with. */
export function WebhookSecret({ webhook }: { readonly webhook: Webhook }) {
  const { slug, to } = useWorkspace()
  const [secret, setSecret] = useState<string | null>(null)
  if (secret !== null) {
    return (
      <Section
        key="new"
        title="The new signing secret"
        lead="For 24 hours the old one signs too: each post carries both signatures. Put the new one in its place by then."
        takesFocus
      >
        <LeaveGuard
          title="Leave without the secret?"
          lead="It is shown now and never again, and you have not said that you kept it."
          leaveLabel="Leave without it"
        />
        <OneTimeSecret label="The secret" secret={secret} what="the secret" />
        <p>
          <Button onClick={() => setSecret(null)}>I have kept it</Button>
        </p>
      </Section>
    )
  }
  return (
    <Section
      title="Signing secret"
      lead={
        <>
          Each post is signed with it. <TextLink to={to('developers', 'examples')}>The examples</TextLink> show how your
          server checks that.
        </>
      }
    >
      <p>
        <ConfirmDialog
          label="Rotate the secret"
          title="Rotate the signing secret?"
          confirmLabel="Make a new secret"
          isHarmless
          onConfirm={async () => setSecret(await rotateWebhookSecret(slug, webhook.id))}
        >
          You get a new secret, shown once. For 24 hours posts are signed with both, so that your server can change over
          without a gap. An older one that still signed ends at once.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
