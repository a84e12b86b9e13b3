import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { IssuedWebhook, Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { webhooksQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatEventTypes } from '../../format/webhook-text.ts'
import { useNewForm } from '../../components/use-new-form.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DeliveryLog } from './delivery-log.tsx'
import { NextStep } from './next-step.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookStatus } from './webhook-status.tsx'

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: 'URL',
    isLong: true,
    render: ({ url }) => (
      <TruncatedText title={url}>
        <span className="font-mono text-[0.875rem] font-normal">{url}</span>
      </TruncatedText>
    ),
  },
  { title: 'Status', render: (webhook) => <WebhookStatus webhook={webhook} /> },
  {
    title: 'Events',
    render: ({ events }) => (
      <span className="text-sm text-muted" title={events.join(', ')}>
        {events.length > 2 ? `${events.length} types` : formatEventTypes(events)}
      </span>
    ),
  },
  {
    title: 'Created',
    render: ({ created_at }) => (
      <span className="text-sm text-muted">
        <TimeText at={created_at} />
      </span>
    ),
  },
]

export function WebhooksPage() {
  const { slug, name, role, mode, to } = useWorkspace()
  const { data: webhooks, error, refetch } = useQuery(webhooksQuery(slug, mode))
  const client = useQueryClient()
  const [issued, setIssued] = useState<IssuedWebhook | null>(null)
  const [saved, setSaved] = useState<IssuedWebhook | null>(null)
  const [isCreating, setCreating] = useNewForm()
  const mayWrite = may(role, 'manageWebhooks')
  const createButton = (
    <Button
      variant="primary"
      onClick={() => {
        setSaved(null)
        setCreating(true)
      }}
    >
      Add endpoint
    </Button>
  )
  return (
    <>
      <PageHeading
        title="Webhooks"
        breadcrumb={name}
        lead="Webhooks notify your servers of payments, deposits and grants."
        // The Create button is hidden while a secret is shown, because the secret of the next endpoint would replace
        // it.
        actions={
          mayWrite && !isCreating && issued === null && webhooks !== undefined && webhooks.length > 0 && createButton
        }
      />
      {issued !== null && (
        <Section title="Your endpoint is ready" takesFocus>
          <LeaveGuard
            title="Leave without the secret?"
            lead="You won’t be able to see this secret again."
            leaveLabel="Leave without it"
          />
          <OneTimeSecret label="Signing secret" secret={issued.secret} what="the secret">
            <p className="text-sm">Your server uses it to verify that a request comes from Bursar.</p>
          </OneTimeSecret>
          <p>
            <Button
              variant="primary"
              onClick={() => {
                setIssued(null)
                setSaved(issued)
              }}
            >
              I have saved it
            </Button>
          </p>
        </Section>
      )}
      {saved !== null && (
        <NextStep text="Check that your endpoint receives events.">
          <ButtonLink to={to('developers', 'webhooks', saved.id)}>Send test event</ButtonLink>
        </NextStep>
      )}
      {isCreating && (
        <Section title="Add endpoint" takesFocus>
          <WebhookForm
            submitLabel="Add endpoint"
            onSubmit={async (terms) => {
              const { url, events } = terms
              const input = { params: { slug }, body: { mode, url, events } }
              const { webhook } = await request('POST /console/workspaces/:slug/webhooks', input)
              await client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey })
              setCreating(false)
              setIssued(webhook)
            }}
            onCancel={() => setCreating(false)}
          />
        </Section>
      )}
      {webhooks === undefined && <QueryState error={error} onRetry={refetch} />}
      {webhooks?.length === 0 && !isCreating && (
        <EmptyState title="No endpoints yet" action={mayWrite && createButton}>
          {mayWrite
            ? 'Add the URL of your server. Until then, you can see all events on the Events page.'
            : 'An owner or admin of this workspace can add an endpoint. You can see all events on the Events page.'}
        </EmptyState>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <>
          <DataTable
            caption="Webhook endpoints"
            columns={COLUMNS}
            items={webhooks}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => to('developers', 'webhooks', id)}
          />
          {webhooks.some(isFailing) && (
            <p className="-mt-4 text-sm text-muted">
              Failing: recent attempts did not succeed. An endpoint is disabled if all its attempts fail for five days.
            </p>
          )}
          <DeliveryLog webhooks={webhooks} />
        </>
      )}
    </>
  )
}

function isFailing({ status, failing_since }: Webhook): boolean {
  return status === 'enabled' && failing_since !== null
}
