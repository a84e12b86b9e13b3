import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Navigate, useParams } from 'react-router'
import type { Delivery, DeliveryDetail } from '@bursar/server/src/console/contract/deliveries.ts'
import { deliveryQuery, webhookQuery } from '../../api/queries.ts'
import { deliveriesKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { CodeLink } from '../../components/code-link.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useNow } from '../../components/use-now.ts'
import { QueryState } from '../../components/query-state.tsx'
import { formatRemaining } from '../../format/format-remaining.ts'
import { formatTrigger } from '../../format/webhook-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AttemptList } from './attempt-list.tsx'
import { DeliveryRequest } from './delivery-request.tsx'
import { DeliveryStatus } from './webhook-status.tsx'
import { useAction } from '../../components/use-action.ts'

export function DeliveryPage() {
  const { id = '' } = useParams()
  const { slug, mode, to } = useWorkspace()
  const { data, error, refetch } = useQuery(deliveryQuery(slug, mode, id))
  if (data === undefined) {
    return (
      <>
        <PageHeading title="Delivery" breadcrumb={<TextLink to={to('developers', 'webhooks')}>Webhooks</TextLink>} />
        <QueryState error={error} onRetry={refetch} lines={6} />
      </>
    )
  }
  if (data.delivery.mode !== mode) {
    return <Navigate to={pathTo(slug, data.delivery.mode, 'developers', 'deliveries', id)} replace />
  }
  // After a replay, this page links to the page of the new delivery. The key resets the component when the ID changes.
  return <DeliveryView key={id} detail={data} />
}

function DeliveryView({ detail }: { readonly detail: DeliveryDetail }) {
  const { slug, role, mode, to } = useWorkspace()
  const client = useQueryClient()
  const { delivery, attempts, body } = detail
  const webhook = useQuery(webhookQuery(slug, mode, delivery.webhook_id)).data
  const replay = useAction({
    mutationFn: async () => {
      const input = { params: { slug, id: delivery.id }, body: {} }
      return (await request('POST /console/workspaces/:slug/deliveries/:id/replay', input)).delivery
    },
    onSuccess: () => client.invalidateQueries({ queryKey: deliveriesKey(slug, mode) }),
  })
  const mayReplay = may(role, 'manageWebhooks') && body !== null && webhook?.status === 'enabled'
  return (
    <>
      <PageHeading
        title={`Delivery of ${delivery.event_type}`}
        breadcrumb={<TextLink to={to('developers', 'webhooks')}>Webhooks</TextLink>}
        lead={<DeliveryState delivery={delivery} isPaused={webhook?.status === 'disabled'} />}
        actions={
          mayReplay && (
            <Button
              variant={replay.data === undefined ? 'primary' : 'plain'}
              isBusy={replay.isPending}
              onClick={() => replay.mutate()}
            >
              {replay.data === undefined ? 'Resend' : 'Resend again'}
            </Button>
          )
        }
      >
        <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
          {delivery.event_type} <DeliveryStatus delivery={delivery} />
        </span>
      </PageHeading>
      <ErrorNotice error={replay.error} />
      <ReplayNotice delivery={replay.data} />
      {webhook?.status === 'disabled' && (
        <Notice>
          <p>
            This endpoint is disabled, so nothing is sent to it.
            {may(role, 'manageWebhooks') && (
              <>
                {' '}
                <TextLink to={to('developers', 'webhooks', webhook.id)}>Enable it</TextLink> to resend the event.
              </>
            )}
          </p>
        </Notice>
      )}
      <DescriptionList>
        <DescriptionItem term="Event">
          {body === null ? (
            <CodeText text={delivery.event_id} />
          ) : (
            <CodeLink to={to('developers', 'events', delivery.event_id)} text={delivery.event_id} />
          )}
        </DescriptionItem>
        <DescriptionItem term="Endpoint">
          {webhook === undefined ? (
            <CodeText text={delivery.webhook_id} />
          ) : (
            <CodeLink to={to('developers', 'webhooks', webhook.id)} text={webhook.url} />
          )}
        </DescriptionItem>
        <DescriptionItem term="Created">
          <TimeText at={delivery.created_at} isExact />
        </DescriptionItem>
        <DescriptionItem term="Trigger">{formatTrigger(delivery.trigger)}</DescriptionItem>
        <DescriptionItem term="ID">
          <CodeText text={delivery.id} what="the ID" />
        </DescriptionItem>
      </DescriptionList>
      <Section title="Attempts">
        {attempts.length === 0 ? (
          <p className="text-muted">
            {delivery.status === 'canceled'
              ? 'None. The endpoint was deleted, or was disabled for 30 days, before the first attempt.'
              : 'None yet.'}
          </p>
        ) : (
          <AttemptList attempts={attempts} />
        )}
      </Section>
      <DeliveryRequest delivery={delivery} body={body} />
    </>
  )
}

/** The status of a delivery in a sentence, with the time of the next attempt. */
function DeliveryState({ delivery, isPaused }: { readonly delivery: Delivery; readonly isPaused: boolean }) {
  const { status, attempt_count, next_attempt_at, finished_at } = delivery
  if (status === 'pending') {
    if (isPaused) return 'The event will be sent once the endpoint is enabled.'
    if (next_attempt_at === null) return 'The event is being sent.'
    return <NextAttempt number={attempt_count + 1} at={next_attempt_at} />
  }
  const end = finished_at === null ? null : <TimeText at={finished_at} isExact />
  if (status === 'succeeded') return <>Delivered{end !== null && <>, {end}</>}.</>
  if (status === 'canceled') {
    return <>Canceled{end !== null && <>, {end}</>}, because the endpoint was deleted or was disabled for 30 days.</>
  }
  return <>Failed{end !== null && <>, {end}</>}. Resend it once your server works again.</>
}

function NextAttempt({ number, at }: { readonly number: number; readonly at: string }) {
  const rest = formatRemaining(at, useNow(1_000))
  if (rest === null) return 'The event is being sent now.'
  return (
    <>
      Attempt {number} in <span className="tabular-nums">{rest}</span>, at <TimeText at={at} isExact />.
    </>
  )
}

/** The status of a replay, on the page where the user requested it. Empty until the user requests a replay. */
function ReplayNotice({ delivery }: { readonly delivery: Delivery | undefined }) {
  return (
    <div role="status" className="empty:absolute">
      {delivery !== undefined && <Replayed key={delivery.id} delivery={delivery} />}
    </div>
  )
}

function Replayed({ delivery }: { readonly delivery: Delivery }) {
  const { slug, mode, to } = useWorkspace()
  const { data } = useQuery(deliveryQuery(slug, mode, delivery.id))
  return (
    <Notice>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>
          Resent: <TextLink to={to('developers', 'deliveries', delivery.id)}>see the new delivery</TextLink>
        </span>
        <DeliveryStatus delivery={data?.delivery ?? delivery} />
      </p>
    </Notice>
  )
}
