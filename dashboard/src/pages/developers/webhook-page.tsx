import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useParams } from 'react-router'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { webhookQuery, webhooksQuery } from '../../api/queries.ts'
import { deliveriesKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import type { Input } from '@bursar/server/src/console/contract/all-routes.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { formatResource } from '../../format/format-resource.ts'
import { explainDisabled, formatEventTypes } from '../../format/webhook-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DeliveryLog } from './delivery-log.tsx'
import { TestEventResult } from './test-event-result.tsx'
import { WebhookDeletion } from './webhook-deletion.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookReplay } from './webhook-replay.tsx'
import { WebhookSecret } from './webhook-secret.tsx'
import { WebhookStatus } from './webhook-status.tsx'
import { useAction } from '../../components/use-action.ts'

export function WebhookPage() {
  const { id = '' } = useParams()
  const { slug, mode, to } = useWorkspace()
  const { data: webhook, error, refetch } = useQuery(webhookQuery(slug, mode, id))
  const breadcrumb = <TextLink to={to('developers', 'webhooks')}>Webhooks</TextLink>
  if (webhook === undefined) {
    return (
      <>
        <PageHeading title="Webhook endpoint" breadcrumb={breadcrumb} />
        <QueryState error={error} onRetry={refetch} />
      </>
    )
  }
  // Each endpoint belongs to one mode, but the URL of the page may contain the other mode.
  if (webhook.mode !== mode) return <Navigate to={pathTo(slug, webhook.mode, 'developers', 'webhooks', id)} replace />
  return <WebhookView webhook={webhook} />
}

function WebhookView({ webhook }: { readonly webhook: Webhook }) {
  const { slug, role, mode, to } = useWorkspace()
  const client = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const isEnabled = webhook.status === 'enabled'
  const refresh = () => client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey })
  const change = async (body: Input<'PATCH /console/workspaces/:slug/webhooks/:id'>['body']) => {
    await request('PATCH /console/workspaces/:slug/webhooks/:id', { params: { slug, id: webhook.id }, body })
    await refresh()
  }
  const toggling = useAction({ mutationFn: () => change({ enabled: !isEnabled }) })
  const test = useAction({
    mutationFn: async () => {
      const input = { params: { slug, id: webhook.id }, body: {} }
      return (await request('POST /console/workspaces/:slug/webhooks/:id/test', input)).delivery
    },
    onSuccess: () => client.invalidateQueries({ queryKey: deliveriesKey(slug, mode) }),
  })
  const mayWrite = may(role, 'manageWebhooks')
  return (
    <>
      <PageHeading
        title={`Webhook to ${hostOf(webhook.url)}`}
        breadcrumb={<TextLink to={to('developers', 'webhooks')}>Webhooks</TextLink>}
        actions={
          mayWrite && (
            <>
              {isEnabled && (
                <Button variant="primary" isBusy={test.isPending} onClick={() => test.mutate()}>
                  Send test event
                </Button>
              )}
              <Button
                variant={isEnabled ? 'plain' : 'primary'}
                isBusy={toggling.isPending}
                onClick={() => toggling.mutate()}
              >
                {isEnabled ? 'Disable' : 'Enable'}
              </Button>
            </>
          )
        }
      >
        <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="wrap-anywhere">{formatResource(webhook.url)}</span> <WebhookStatus webhook={webhook} />
        </span>
      </PageHeading>
      <ErrorNotice error={toggling.error ?? test.error} />
      <TestEventResult deliveryId={test.data?.id} />
      <EndpointWarning webhook={webhook} />
      {isEditing ? (
        <Section title="Change endpoint" takesFocus>
          <WebhookForm
            initial={webhook}
            submitLabel="Save"
            onSubmit={async (terms) => {
              await change(terms)
              setEditing(false)
            }}
            onCancel={() => setEditing(false)}
          />
        </Section>
      ) : (
        <div className="grid gap-3">
          <DescriptionList>
            <DescriptionItem term="URL">
              <CodeText text={webhook.url} what="the URL" />
            </DescriptionItem>
            <DescriptionItem term="Events">{formatEventTypes(webhook.events)}</DescriptionItem>
            <DescriptionItem term="Created">
              <TimeText at={webhook.created_at} isExact />
            </DescriptionItem>
            <DescriptionItem term="ID">
              <CodeText text={webhook.id} what="the ID" />
            </DescriptionItem>
          </DescriptionList>
          {mayWrite && (
            <p>
              <Button onClick={() => setEditing(true)}>Change URL or events</Button>
            </p>
          )}
        </div>
      )}
      {mayWrite && <WebhookReplay webhook={webhook} />}
      <DeliveryLog webhooks={[webhook]} isSingle />
      {mayWrite && (
        <>
          <WebhookSecret webhook={webhook} />
          <WebhookDeletion webhook={webhook} />
        </>
      )}
    </>
  )
}

function EndpointWarning({ webhook }: { readonly webhook: Webhook }) {
  const { status, disabled_because, failing_since } = webhook
  if (status === 'disabled') {
    return (
      <Notice tone={disabled_because === 'owner' ? 'plain' : 'warning'}>
        <p>
          <strong>This endpoint is disabled.</strong> {explainDisabled(disabled_because)} Events that happen while it is
          disabled are never sent to it. You can see them under Events. Pending deliveries are sent once you enable the
          endpoint.
        </p>
      </Notice>
    )
  }
  if (failing_since === null) return null
  return (
    <Notice tone="warning">
      <p>
        <strong>
          This endpoint is failing. No attempt has succeeded since <TimeText at={failing_since} isExact />.
        </strong>{' '}
        See the deliveries below for the reason. If all attempts fail for five days, the endpoint is disabled.
      </p>
    </Notice>
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
